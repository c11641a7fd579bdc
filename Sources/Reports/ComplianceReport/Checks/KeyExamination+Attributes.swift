internal import SigningGateway
internal import SigningKit

private struct ExpectedAttribute {
    enum Expectation {
        case text(String)
        /// `CKM_ECDSA`, alone or with mechanisms that hash first, or `any` if the token does not restrict the key.
        case ecdsaMechanisms
        /// Reported without a verdict.
        case told(String)
        /// The expected value depends on the key's provenance.
        case byProvenance(generated: String, imported: String)
        case notEmpty
    }

    let name: String
    let asks: String
    let requirements: [Requirement]
    let expectation: Expectation
    /// The remedy for another value.
    let cure: String?

    init(
        _ name: String, _ expectation: Expectation, _ asks: String, _ requirements: [Requirement], cure: String? = nil
    ) {
        self.name = name
        self.asks = asks
        self.requirements = requirements
        self.expectation = expectation
        self.cure = cure
    }

    private static let storage: [Requirement] = [.pci("3.6.1.2"), .pci("3.7.3"), .nist57("6")]
    private static let use: [Requirement] = [.nist57("5.2")]
    private static let again = "Import the key again with privyseal keys import."

    static let all: [ExpectedAttribute] = [
        .init("CKA_CLASS", .text("CKO_PRIVATE_KEY"), "Is it a private key?", use),
        .init("CKA_KEY_TYPE", .text("CKK_EC"), "Is it an elliptic-curve key?", [.nist57("5.6")]),
        .init("CKA_EC_PARAMS", .text("P-256"), "Is it on P-256?", [.nist57("5.6"), .pci("3.7.1")]),
        .init("CKA_TOKEN", .text("TRUE"), "Is it stored on the token?", storage, cure: again),
        .init("CKA_PRIVATE", .text("TRUE"), "Does access to it require a login?", storage, cure: again),
        .init("CKA_SENSITIVE", .text("TRUE"), "Can it never leave in the clear?", storage, cure: again),
        .init(
            "CKA_EXTRACTABLE", .text("FALSE"), "Can it never leave wrapped under another key?", storage,
            cure: "Assume that it was copied: create a new key at Apple, import that, and destroy this one."),
        .init(
            "CKA_ALWAYS_SENSITIVE", .byProvenance(generated: "TRUE", imported: "FALSE"), "Was it always sensitive?",
            storage),
        .init(
            "CKA_NEVER_EXTRACTABLE", .byProvenance(generated: "TRUE", imported: "FALSE"), "Was it never extractable?",
            storage),
        .init(
            "CKA_LOCAL", .byProvenance(generated: "TRUE", imported: "FALSE"), "Was it made where the record says?",
            [.pci("3.7.1")]),
        .init(
            "CKA_KEY_GEN_MECHANISM", .byProvenance(generated: "CKM_EC_KEY_PAIR_GEN", imported: "none known"),
            "How was it made?", [.pci("3.7.1")]),
        .init("CKA_SIGN", .text("TRUE"), "May it sign?", use),
        .init("CKA_SIGN_RECOVER", .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init("CKA_DECRYPT", .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init("CKA_UNWRAP", .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init("CKA_DERIVE", .text("FALSE"), "May it do nothing but sign?", use, cure: again),
        .init("CKA_MODIFIABLE", .text("FALSE"), "Are its attributes unmodifiable?", storage, cure: again),
        .init(
            "CKA_COPYABLE", .told("FALSE is best; a copy is as protected as the key"),
            "Can it be copied within the token?", storage),
        .init("CKA_DESTROYABLE", .told("TRUE, to destroy it one day"), "Can it be destroyed?", [.pci("3.7.5")]),
        .init("CKA_WRAP_WITH_TRUSTED", .told("of no weight for a key that is not extractable"), "Wrapped by whom?", []),
        .init("CKA_ALWAYS_AUTHENTICATE", .told("as configured"), "Does each signature require the PIN?", []),
        .init(
            "CKA_ALLOWED_MECHANISMS",
            .ecdsaMechanisms, "Which mechanisms can use it?", use, cure: again),
        .init("CKA_START_DATE", .told("the register has the times"), "From when is it valid?", [.nist57("5.3.6")]),
        .init("CKA_END_DATE", .told("the register has the times"), "Until when is it valid?", [.nist57("5.3.6")]),
        .init("CKA_ID", .notEmpty, "Does it have an ID?", []),
        .init("CKA_LABEL", .notEmpty, "Does it have a label?", []),
    ]
}

extension KeyExamination {
    /// The checks of every attribute; none for a key in a file.
    var attributeChecks: [ComplianceCheck] {
        if isInFile { return [] }
        return ExpectedAttribute.all.map(check) + [signOnly]
    }

    private func check(_ expected: ExpectedAttribute) -> ComplianceCheck {
        seen(
            "attribute.\(expected.name)", expected.asks, expected.requirements, expected: text(expected.expectation)
        ) { inspection in
            guard let attribute = inspection.attributes.first(where: { $0.name == expected.name }) else {
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
    private func unread(_ expectation: ExpectedAttribute.Expectation) -> ComplianceCheck.Result {
        switch expectation {
        case .told, .ecdsaMechanisms: .notApplicable
        case .text, .byProvenance, .notEmpty: .unavailable
        }
    }

    private func text(_ expectation: ExpectedAttribute.Expectation) -> String {
        switch expectation {
        case .text(let text): text
        case .ecdsaMechanisms: "CKM_ECDSA or any"
        case .told(let text): text
        case .notEmpty: "not empty"
        case .byProvenance(let generated, let imported):
            switch key.knownProvenance {
            case .generated: "\(generated) (generated)"
            case .imported: "\(imported) (imported)"
            case .unknown: "\(generated) if generated, \(imported) if imported"
            }
        }
    }

    private func judge(
        _ value: String, _ expected: ExpectedAttribute
    ) -> (value: String?, result: ComplianceCheck.Result, detail: String?) {
        switch expected.expectation {
        case .text(let text): (value, value == text ? .pass : .fail, value == text ? nil : expected.cure)
        case .ecdsaMechanisms: judge(mechanisms: value, cure: expected.cure)
        case .told: (value, .notApplicable, nil)
        case .notEmpty: (value, value.isEmpty ? .fail : .pass, nil)
        case .byProvenance(let generated, let imported): judge(value, generated: generated, imported: imported)
        }
    }

    private func judge(
        mechanisms value: String, cure: String?
    ) -> (value: String?, result: ComplianceCheck.Result, detail: String?) {
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
    ) -> (value: String?, result: ComplianceCheck.Result, detail: String?) {
        switch key.knownProvenance {
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
        ) { inspection in
            guard let signs = inspection.value(of: "CKA_SIGN") else {
                return (nil, .unavailable, "The token does not report it.")
            }
            let rights = others.filter { inspection.value(of: $0) == "TRUE" }
            let silent = others.filter { inspection.value(of: $0) == nil }
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
