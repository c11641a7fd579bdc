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
                return (nil, .unavailable, "It cannot be read, because not exactly one key has this name.")
            }
            if let value = found.value { return judge(value, attribute) }
            let detail = "The token does not report: \(found.answer ?? "no value")."
            return switch attribute.expectation {
            // These need no value.
            case .reported, .ecdsaMechanisms: (nil, .notApplicable, detail)
            case .text, .byProvenance, .notEmpty: (nil, .unavailable, detail)
            }
        }
    }

    private func text(_ expectation: KeyAttribute.Expectation) -> String {
        switch expectation {
        case .text(let text), .reported(let text): text
        case .ecdsaMechanisms: "CKM_ECDSA or any"
        case .notEmpty: "not empty"
        case .byProvenance(let generated, let imported):
            switch provenance {
            case .generated: "\(generated) (generated)"
            case .imported: "\(imported) (imported)"
            case .unknown: "\(generated) if generated, \(imported) if imported"
            }
        }
    }

    private func judge(_ value: String, _ attribute: KeyAttribute) -> Judgement {
        switch attribute.expectation {
        case .text(let text): return (value, value == text ? .pass : .fail, value == text ? nil : attribute.cure)
        case .reported: return (value, .notApplicable, nil)
        case .notEmpty: return (value, value.isEmpty ? .fail : .pass, nil)
        case .ecdsaMechanisms where value == "any":
            return (value, .notApplicable, "The token does not restrict it; CKA_SIGN and the key's type do.")
        case .ecdsaMechanisms:
            let names = value.split { $0 == " " || $0 == "," }
            let isFit = names.contains("CKM_ECDSA") && names.allSatisfy { $0.hasPrefix("CKM_ECDSA") }
            return (value, isFit ? .pass : .fail, isFit ? nil : attribute.cure)
        // PKCS #11 v2.40 §4.9: only a key generated on the token is local, always sensitive and never extractable.
        case .byProvenance(let generated, let imported):
            let record = provenance == .generated ? "the token made this key" : "this key was imported"
            let contradiction = "The record says that \(record); the token says otherwise."
            switch provenance {
            case .generated: return value == generated ? (value, .pass, nil) : (value, .fail, contradiction)
            case .imported where value == imported:
                return (
                    value, .notApplicable, "It is always \(imported) for an imported key; see ceremony.record."
                )
            case .imported: return (value, .fail, contradiction)
            case .unknown:
                return (
                    value, .unavailable,
                    "The origin of this key is not recorded. Set provenance: imported or provenance: generated."
                )
            }
        }
    }

    private var signOnly: ComplianceCheck {
        let others = ["CKA_SIGN_RECOVER", "CKA_DECRYPT", "CKA_UNWRAP", "CKA_DERIVE"]
        return seen("usage.signOnly", "May it only sign?", [.nist57("5.2")], expected: "sign only") { key in
            guard let signs = key.value(of: "CKA_SIGN") else {
                return (nil, .unavailable, "The token does not report it.")
            }
            let rights = others.filter { key.value(of: $0) == "TRUE" }
            let silent = others.filter { key.value(of: $0) == nil }
            if signs != "TRUE" || !rights.isEmpty {
                let found = (signs == "TRUE" ? ["CKA_SIGN"] : []) + rights
                return (found.isEmpty ? "nothing" : found.joined(separator: ", "), .fail, nil)
            }
            guard silent.isEmpty else {
                return ("sign", .unavailable, "The token does not report \(silent.joined(separator: ", ")).")
            }
            return ("sign only", .pass, nil)
        }
    }
}
