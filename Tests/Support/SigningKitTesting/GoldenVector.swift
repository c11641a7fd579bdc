public import Foundation
public import SigningKit
import StrictJSON

/// A request with a grant, and the exact bytes to sign for it.
///
/// A file of vectors states the source of its expectations (`origin`). All of its vectors share the grant and a made-up
/// signature:
///
/// ```json
/// {
///   "origin": "…",
///   "grant": {"bundleId": "…", "issuerId": "…", "keyId": "…", "issuedAt": 1698148900000, "nonce": "…"},
///   "signature": "128 hexadecimal digits: r ‖ s",
///   "vectors": [
///     {"name": "…", "body": {…}, "subject": {"products": ["…"], "offers": [], "user": "…"},
///      "signingInput": "…", "header": "…", "payload": "…", "answer": "…"}
///   ]
/// }
/// ```
///
/// `body` is used byte for byte. `subject` is what the request names. The other members are exact texts. `header` and
/// `payload` are for a JWS, and `answer` is optional.
public struct GoldenVector: Sendable {
    /// The JSON of a JWS's header and payload, before Base64url.
    public struct Parts: Sendable {
        public let header: [UInt8]
        public let payload: [UInt8]
    }

    public let name: String
    /// The source of the expectations.
    public let origin: String
    public let body: [UInt8]
    public let grant: Grant
    public let subject: OfferSubject
    public let signingInput: [UInt8]
    public let parts: Parts?
    public let signature: P256Signature
    public let answer: [UInt8]?

    /// The vectors of all files `Vectors/*.json` of a bundle.
    public static func all(in bundle: Bundle) throws -> [GoldenVector] {
        let directory = (bundle.resourceURL ?? bundle.bundleURL).appending(path: "Vectors")
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        return try files.flatMap { try all(inFile: Array(Data(contentsOf: $0))) }
    }

    static func all(inFile bytes: [UInt8]) throws -> [GoldenVector] {
        let file = try JSONDocument(parsing: bytes).root.object(members: ["origin", "grant", "signature", "vectors"])
        let origin = try file.required("origin", string)
        let grant = try file.required("grant", Grant.init(fromVector:))
        let signature = try file.required("signature", P256Signature.init(fromVector:))
        return try file.required("vectors") { value throws(JSONReadError) in
            try value.elements { vector throws(JSONReadError) in
                try GoldenVector(from: vector, origin: origin, grant: grant, signature: signature)
            }
        }
    }

    private init(from value: JSONValue, origin: String, grant: Grant, signature: P256Signature) throws(JSONReadError) {
        let object = try value.object(members: Self.members)
        name = try object.required("name", string)
        body = try object.required("body") { value throws(JSONReadError) in Array(value.rawBytes) }
        subject = try object.required("subject", OfferSubject.init(fromVector:))
        signingInput = try object.required("signingInput", text)
        let header = try object.optional("header", text)
        let payload = try object.optional("payload", text)
        if let header, let payload { parts = Parts(header: header, payload: payload) } else { parts = nil }
        answer = try object.optional("answer", text)
        (self.origin, self.grant, self.signature) = (origin, grant, signature)
    }

    private static let members = ["name", "body", "subject", "signingInput", "header", "payload", "answer"]
}

private func string(_ value: JSONValue) throws(JSONReadError) -> String { try value.string() }
private func strings(_ value: JSONValue) throws(JSONReadError) -> [String] { try value.elements(string) }
private func text(_ value: JSONValue) throws(JSONReadError) -> [UInt8] { Array(try value.string().utf8) }

extension Grant {
    fileprivate init(fromVector value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: ["bundleId", "issuerId", "keyId", "issuedAt", "nonce"])
        let app = AppIdentity(
            bundleID: try object.required("bundleId", string),
            issuerID: try object.required("issuerId", string),
            keyID: try object.required("keyId", string)
        )
        let issuedAt = try object.required("issuedAt") { value throws(JSONReadError) in try value.integer() }
        let nonce = try object.required("nonce") { value throws(JSONReadError) in try Nonce(fromVector: value.string())
        }
        self.init(app: app, issuedAt: Timestamp(milliseconds: issuedAt), nonce: nonce)
    }
}

extension OfferSubject {
    fileprivate init(fromVector value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: ["products", "offers", "user"])
        self.init(
            products: try object.required("products", strings), offers: try object.required("offers", strings),
            user: try object.optional("user") { value throws(JSONReadError) in try value.string() })
    }
}

extension Nonce {
    /// - Parameter text: a lower-case version 4 UUID.
    fileprivate init(fromVector text: String) throws(JSONReadError) {
        let digits = text.filter { $0 != "-" }
        guard let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.dropFirst(16), radix: 16) else {
            throw JSONReadError(.invalid("is no UUID"))
        }
        self.init(random: high, low)
        guard description == text else { throw JSONReadError(.invalid("is no lower-case version 4 UUID")) }
    }
}

extension P256Signature {
    fileprivate init(fromVector value: JSONValue) throws(JSONReadError) {
        let digits = Array(try value.string())
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        guard let signature = P256Signature(rawRepresentation: bytes) else {
            throw JSONReadError(.invalid("is not 64 bytes in hexadecimal"))
        }
        self = signature
    }
}
