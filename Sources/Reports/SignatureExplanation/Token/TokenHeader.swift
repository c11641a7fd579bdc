import SigningKit
import StrictJSON

/// Checks that a token's header is exactly `alg`, `kid`, `typ`.
struct TokenHeader {
    /// The header member `kid`, if it is a string.
    private(set) var keyID: String?
    private(set) var findings: [Finding] = []

    private static let members = ["alg", "kid", "typ"]

    init(_ bytes: [UInt8]) {
        let header: JSONObject
        do { header = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            findings.add(.headerNotJSON, in: "header", "The header cannot be read. \(error)")
            return
        }
        keyID = try? header["kid"]?.string()
        for name in Self.members { check(name, header[name]) }
        for name in header.names where !Self.members.containsExactly(name) {
            findings.add(
                .headerMemberUnknown, in: name, "The header has a member \"\(name)\", which is none of alg, kid, typ.")
        }
    }

    private mutating func check(_ name: String, _ value: JSONValue?) {
        guard let value else {
            return findings.add(.headerMemberMissing, in: name, "The header has no member \"\(name)\".")
        }
        guard let text = try? value.string() else {
            return findings.add(.headerMemberKind, in: name, "The header's \"\(name)\" is not a string.")
        }
        switch name {
        case "alg" where text != "ES256":
            let detail =
                switch text.lowercased() {
                case "none": ": such a token has no signature"
                case "hs256", "hs384", "hs512":
                    ": what it carries is a code made with a shared secret (HMAC), not a signature"
                default: ""
                }
            findings.add(.headerAlg, in: "alg", "The header's alg is \"\(text)\", not \"ES256\"\(detail).")
        case "typ" where text != "JWT":
            findings.add(.headerTyp, in: "typ", "The header's typ is \"\(text)\", not \"JWT\".")
        case "kid" where text.isEmpty: findings.add(.headerMemberMissing, in: "kid", "The header's kid is empty.")
        default: break
        }
    }
}
