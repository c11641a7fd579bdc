import PKCS11
import SigningKit

extension TokenKeyChecks {
    var attributeChecks: [ComplianceCheck] { KeyAttribute.all.map(check) + [signOnly] }

    private func check(_ attribute: KeyAttribute) -> ComplianceCheck {
        let name = attribute.kind.name
        return seen(
            "attribute.\(name)", attribute.asks, attribute.requirements, expected: text(attribute.expectation)
        ) { key in
            guard let found = key.attributes.first(where: { $0.name == name }) else {
                return .unavailable("It cannot be read, because not exactly one key has this name.")
            }
            if let value = found.value { return judge(value, attribute) }
            let detail = "The token does not report: \(found.answer ?? "no value")."
            return switch attribute.expectation {
            // These need no value.
            case .reported, .ecdsaMechanisms: .notApplicable(nil, detail)
            case .text, .byProvenance, .notEmpty: .unavailable(detail)
            }
        }
    }

    private func text(_ expectation: KeyAttribute.Expectation) -> String {
        switch expectation {
        case .text(let text), .reported(let text): text
        case .ecdsaMechanisms: "CKM_ECDSA or any"
        case .notEmpty: "not empty"
        case .byProvenance(let generated, let imported):
            provenance.expectation(generated: generated, imported: imported)
        }
    }

    private func judge(_ value: String, _ attribute: KeyAttribute) -> ComplianceVerdict {
        switch attribute.expectation {
        case .text(let text): return value == text ? .pass(value) : .fail(value, attribute.cure)
        case .reported: return .notApplicable(value)
        case .notEmpty: return value.isEmpty ? .fail(value) : .pass(value)
        case .ecdsaMechanisms where value == "any":
            return .notApplicable(value, "The token does not restrict it; CKA_SIGN and the key's type do.")
        case .ecdsaMechanisms:
            let names = value.split { $0 == " " || $0 == "," }
            let isFit = names.contains("CKM_ECDSA") && names.allSatisfy { $0.hasPrefix("CKM_ECDSA") }
            return isFit ? .pass(value) : .fail(value, attribute.cure)
        // PKCS #11 v2.40 §4.9: only a key generated on the token is local, always sensitive and never extractable.
        case .byProvenance(let generated, let imported):
            return provenance.verdict(
                on: value, generated: generated, imported: imported, from: "the token",
                imported: "It is always \(imported) for an imported key; see ceremony.record.")
        }
    }

    private var signOnly: ComplianceCheck {
        let others = ["CKA_SIGN_RECOVER", "CKA_DECRYPT", "CKA_UNWRAP", "CKA_DERIVE"]
        return seen("usage.signOnly", "May it only sign?", [.nist57("5.2")], expected: "sign only") { key in
            guard let signs = key.value(of: "CKA_SIGN") else {
                return .unavailable("The token does not report it.")
            }
            let rights = others.filter { key.value(of: $0) == "TRUE" }
            let silent = others.filter { key.value(of: $0) == nil }
            if signs != "TRUE" || !rights.isEmpty {
                let found = (signs == "TRUE" ? ["CKA_SIGN"] : []) + rights
                return .fail(found.isEmpty ? "nothing" : found.joined(separator: ", "))
            }
            guard silent.isEmpty else {
                return .unavailable("The token does not report \(silent.joined(separator: ", ")).", value: "sign")
            }
            return .pass("sign only")
        }
    }
}
