import Crypto
import Encodings
public import SigningKit
public import StrictJSON

/// A wrapped key as a file, in JSON so that people can see its kind and recipient. Format: docs/key-ceremonies.md.
public struct KeyPackage: Sendable {
    public let key: WrappedKey

    public static let format = "privyseal-wrapped-key"
    /// In bytes; a package has about a thousand.
    public static let maximumSize = 16 << 10
    private static let version: Int64 = 1
    private static let algorithms: [WrappingHash: String] = [
        .sha1: "RSA-OAEP-SHA1+AES-256-KWP", .sha256: "RSA-OAEP-SHA256+AES-256-KWP",
    ]

    public init(_ key: WrappedKey) {
        self.key = key
    }

    public init(parsing bytes: [UInt8]) throws(KeyTransportError) {
        do {
            self = try KeyPackage(from: try JSONDocument(parsing: bytes).root)
        } catch let error as KeyTransportError {
            throw error
        } catch {
            throw KeyTransportError("The package was not made by keys wrap: \(error).")
        }
    }
}

extension KeyPackage: JSONWritable {
    private init(from value: JSONValue) throws {
        let object = try value.object(members: [
            "format", "version", "algorithm", "wrappingKeyFingerprint", "keyFingerprint", "publicKey",
            "encryptedAesKey", "encryptedKey",
        ])
        guard try Self.text(object, "format") == Self.format,
            try object.required("version", { value throws(JSONReadError) in try value.integer() }) == Self.version,
            let hash = try Self.hash(object)
        else { throw KeyTransportError("The package has a format that this version does not support.") }
        guard let publicKey = P256.Signing.PublicKey(subjectPublicKeyInfo: try Self.bytes(object, "publicKey")),
            let wrappingKey = PublicKeyFingerprint(try Self.text(object, "wrappingKeyFingerprint")),
            try Self.text(object, "keyFingerprint") == PublicKeyFingerprint(of: publicKey).description
        else { throw KeyTransportError("The package's public key and its fingerprints do not match.") }
        key = WrappedKey(
            wrappingKey: wrappingKey, publicKey: publicKey, hash: hash,
            encryptedAESKey: try Self.bytes(object, "encryptedAesKey"),
            encryptedKey: try Self.bytes(object, "encryptedKey"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("format", Self.format)
            writer.member("version", Self.version)
            writer.member("algorithm", Self.algorithms[key.hash] ?? "")
            writer.member("wrappingKeyFingerprint", key.wrappingKey.description)
            writer.member("keyFingerprint", PublicKeyFingerprint(of: key.publicKey).description)
            writer.member("publicKey", unescaped: Base64.standard.encode(Array(key.publicKey.derRepresentation)))
            writer.member("encryptedAesKey", unescaped: Base64.standard.encode(key.encryptedAESKey))
            writer.member("encryptedKey", unescaped: Base64.standard.encode(key.encryptedKey))
        }
    }

    private static func hash(_ object: JSONObject) throws(JSONReadError) -> WrappingHash? {
        let algorithm = try text(object, "algorithm")
        return algorithms.first { $0.value == algorithm }?.key
    }

    private static func text(_ object: JSONObject, _ name: StaticString) throws(JSONReadError) -> String {
        try object.required("\(name)") { value throws(JSONReadError) in try value.string() }
    }

    private static func bytes(_ object: JSONObject, _ name: StaticString) throws -> [UInt8] {
        guard let bytes = Base64.standard.decode(Array(try text(object, name).utf8)) else {
            throw KeyTransportError("The package's \(name) is not Base64.")
        }
        return bytes
    }
}
