import Encodings
public import SigningKit
import StrictJSON

/// The conditions that every text must satisfy that a feature asks to sign, for any request.
public struct SignedForm: Sendable {
    /// Returns the fault of a text as a sentence, or nil.
    let fault: @Sendable (_ signingInput: [UInt8], _ grant: Grant) -> String?

    public init(_ fault: @escaping @Sendable (_ signingInput: [UInt8], _ grant: Grant) -> String?) {
        self.fault = fault
    }

    /// A JWS for the App Store: header and base claims come from the grant, and only `claims` are allowed besides.
    public static func jws(audience: String, claims: Set<String>) -> SignedForm {
        SignedForm { signingInput, grant in
            let parts = signingInput.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 2, let header = Base64.url.decode(parts[0]), let payload = Base64.url.decode(parts[1])
            else { return "what is signed is not two parts of Base64url" }
            guard header.asText == #"{"alg":"ES256","kid":"\#(grant.app.keyID)","typ":"JWT"}"# else {
                return "the header is \(header.asText)"
            }
            do { return try faultOfPayload(payload, audience, claims, grant) } catch { return "\(error)" }
        }
    }

    /// A legacy signature: seven fields, of which the caller chooses the third, fourth and fifth.
    public static let legacy = SignedForm { signingInput, grant in
        let fields = signingInput.asText.split(separator: "\u{2063}", omittingEmptySubsequences: false)
        guard fields.count == 7 else { return "there are \(fields.count) fields" }
        let granted = [grant.app.bundleID, grant.app.keyID, grant.nonce.description, "\(grant.issuedAt.milliseconds)"]
        guard [fields[0], fields[1], fields[5], fields[6]].map(String.init) == granted else {
            return "the fields are \(fields)"
        }
        return fields[2...4].contains(where: holdsControlCharacter) ? "a field holds a control character" : nil
    }

    private static func faultOfPayload(
        _ payload: [UInt8], _ audience: String, _ claims: Set<String>, _ grant: Grant
    ) throws -> String? {
        let object = try JSONDocument(parsing: payload).root.anyObject()
        let base = [
            ("iss", grant.app.issuerID.quoted), ("iat", "\(grant.issuedAt.seconds)"), ("aud", audience.quoted),
            ("bid", grant.app.bundleID.quoted), ("nonce", grant.nonce.description.quoted),
        ]
        guard
            object.members.prefix(5).elementsEqual(
                base, by: { $0.name == $1.0 && Array($0.value.rawBytes).asText == $1.1 })
        else { return "the base claims are \(payload.asText)" }
        let strangers = object.names.dropFirst(5).filter { !claims.contains($0) }
        guard strangers.isEmpty else { return "there are other claims: \(strangers)" }
        let isUnclean = try object.members.contains { _, value in
            try value.kind == .string && holdsControlCharacter(value.string())
        }
        return isUnclean ? "a claim holds a control character or U+2063: \(payload.asText)" : nil
    }

    private static func holdsControlCharacter(_ text: some StringProtocol) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{2063}" }
    }
}

extension String {
    /// A JSON string literal with only the escapes that JSON requires.
    var quoted: String {
        var writer = JSONWriter()
        writer.string(self)
        return writer.bytes.asText
    }
}
