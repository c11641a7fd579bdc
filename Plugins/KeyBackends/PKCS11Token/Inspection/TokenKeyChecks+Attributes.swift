internal import SigningKit

extension TokenKeyChecks {
    var attributeChecks: [ComplianceCheck] { KeyAttribute.all.map(check) + [signOnly] }

    private func check(_ expected: KeyAttribute) -> ComplianceCheck {
        seen(
            "attribute.\(expected.name)", expected.asks, expected.requirements, expected: text(expected.expectation)
        ) { key in
            guard let attribute = key.attributes.first(where: { $0.name == expected.name }) else {
                return (nil, .unavailable, "It cannot be read, because not exactly one key has this name.")
            }
            guard let value = attribute.value else {
                return (
                    nil, unread(expected.expectation), "The token does not report: \(attribute.answer ?? "no value")."
                )
            }
            return judge(value, expected)
        }
    }

    /// The result if the token returns no value. Reported attributes and `CKA_ALLOWED_MECHANISMS` need none.
    private func unread(_ expectation: KeyAttribute.Expectation) -> ComplianceCheck.Result {
        switch expectation {
        case .reported, .ecdsaMechanisms: .notApplicable
        case .text, .byProvenance, .notEmpty: .unavailable
        }
    }

    private func text(_ expectation: KeyAttribute.Expectation) -> String {
        switch expectation {
        case .text(let text): text
        case .ecdsaMechanisms: "CKM_ECDSA or any"
        case .reported(let text): text
        case .notEmpty: "not empty"
        case .byProvenance(let generated, let imported):
            switch provenance {
            case .generated: "\(generated) (generated)"
            case .imported: "\(imported) (imported)"
            case .unknown: "\(generated) if generated, \(imported) if imported"
            }
        }
    }

    private func judge(
        _ value: String, _ expected: KeyAttribute
    ) -> Judgement {
        switch expected.expectation {
        case .text(let text): (value, value == text ? .pass : .fail, value == text ? nil : expected.cure)
        case .ecdsaMechanisms: judge(mechanisms: value, cure: expected.cure)
        case .reported: (value, .notApplicable, nil)
        case .notEmpty: (value, value.isEmpty ? .fail : .pass, nil)
        case .byProvenance(let generated, let imported): judge(value, generated: generated, imported: imported)
        }
    }

    private func judge(
        mechanisms value: String, cure: String?
    ) -> Judgement {
        if value == "any" {
            return (value, .notApplicable, "The token does not restrict it; CKA_SIGN and the key's type do.")
        }
        let names = value.split { $0 == " " || $0 == "," }
        let isFit = names.contains("CKM_ECDSA") && names.allSatisfy { $0.hasPrefix("CKM_ECDSA") }
        return (value, isFit ? .pass : .fail, isFit ? nil : cure)
    }

    /// PKCS #11 v2.40 §4.9: only a key generated on the token is local, always sensitive and never extractable.
    private func judge(
        _ value: String, generated: String, imported: String
    ) -> Judgement {
        switch provenance {
        case .generated:
            return value == generated
                ? (value, .pass, nil)
                : (value, .fail, "The record says that the token made this key; the token says otherwise.")
        case .imported:
            return value == imported
                ? (value, .notApplicable, "It is always \(imported) for an imported key; see ceremony.record.")
                : (value, .fail, "The record says that this key was imported; the token says otherwise.")
        case .unknown:
            return (
                value, .unavailable,
                "The origin of this key is not recorded. Set provenance: imported or provenance: generated."
            )
        }
    }

    private var signOnly: ComplianceCheck {
        let others = ["CKA_SIGN_RECOVER", "CKA_DECRYPT", "CKA_UNWRAP", "CKA_DERIVE"]
        return seen(
            "usage.signOnly", "May it only sign?", [.nist57("5.2")],
            expected: "sign only"
        ) { key in
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
