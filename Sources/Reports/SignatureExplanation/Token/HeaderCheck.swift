import SigningKit
import StrictJSON

/// Checks that a token's header is exactly `alg`, `kid`, `typ`.
struct HeaderCheck {
    /// The header member `kid`, if it is a string.
    private(set) var keyID: String?
    private(set) var findings: [Finding] = []

    init(_ bytes: [UInt8]) {
        let header: JSONObject
        do { header = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            findings.append(Finding(.headerNotJSON, field: "header", "The header cannot be read. \(error)"))
            return
        }
        keyID = try? header["kid"]?.string()
        for name in Self.members { check(name, header[name]) }
        for name in header.names where !Self.members.containsExactly(name) {
            findings.append(
                Finding(
                    .headerMemberUnknown, field: name,
                    "The header has a member \"\(name)\", which is none of alg, kid, typ."))
        }
    }

    private mutating func check(_ name: String, _ value: JSONValue?) {
        guard let value else {
            findings.append(Finding(.headerMemberMissing, field: name, "The header has no member \"\(name)\"."))
            return
        }
        guard let text = try? value.string() else {
            findings.append(Finding(.headerMemberKind, field: name, "The header's \"\(name)\" is not a string."))
            return
        }
        switch name {
        case "alg" where text != "ES256":
            findings.append(Finding(.headerAlgorithm, field: "alg", Self.sentence(onAlgorithm: text)))
        case "typ" where text != "JWT":
            findings.append(Finding(.headerType, field: "typ", "The header's typ is \"\(text)\", not \"JWT\"."))
        case "kid" where text.isEmpty:
            findings.append(Finding(.headerMemberMissing, field: "kid", "The header's kid is empty."))
        default: break
        }
    }

    private static func sentence(onAlgorithm name: String) -> String {
        let sentence = "The header's alg is \"\(name)\", not \"ES256\""
        return switch name.lowercased() {
        case "none": "\(sentence): such a token has no signature."
        case "hs256", "hs384", "hs512":
            "\(sentence): what it carries is a code made with a shared secret (HMAC), not a signature."
        default: "\(sentence)."
        }
    }

    private static let members = ["alg", "kid", "typ"]
}
