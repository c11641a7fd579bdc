import SigningKit

/// The checks of a KMS key for a compliance report. All values are those of DescribeKey.
struct KMSKeyChecks {
    let provenance: KeyProvenance
    /// Nil for a key that does not exist.
    let described: Result<KMSKeyMetadata?, KeyError>

    /// In the order of the report.
    var all: [ComplianceCheck] { [curve, origin, state, usage, manager, expiry, regions] }

    /// Makes a check from the key's metadata. Without it, the check is unavailable and says why.
    private func seen(
        _ id: String, _ asks: String, _ requirements: [Requirement], expected: String,
        _ judge: (KMSKeyMetadata) -> ComplianceVerdict
    ) -> ComplianceCheck {
        let verdict: ComplianceVerdict =
            switch described {
            case .success(let key?): judge(key)
            case .success(nil): .unavailable("KMS has no such key.")
            case .failure(let error): .unavailable("\(error)")
            }
        return ComplianceCheck(id, asks, requirements, expected: expected, verdict, evidence: "")
    }

    /// A check of a member that must have one value.
    private func equals(
        _ id: String, _ asks: String, _ requirements: [Requirement], _ expected: String, _ member: String,
        _ value: (KMSKeyMetadata) -> String?, cure: String
    ) -> ComplianceCheck {
        seen(id, asks, requirements, expected: expected) { key in
            guard let found = value(key) else { return .unavailable("KMS does not report \(member).") }
            return found == expected ? .pass(found) : .fail(AWSText.excerpt(found), cure)
        }
    }

    private var curve: ComplianceCheck {
        equals(
            "identity.curve", "Is it a key on P-256?", [.nist57("5.6"), .pci("3.7.1")], KMSKeyMetadata.spec, "KeySpec",
            \.keySpec, cure: "App Store keys are on P-256. Use another key.")
    }

    private var origin: ComplianceCheck {
        let (generated, imported) = ("AWS_KMS", "EXTERNAL")
        return seen(
            "kms.origin", "Where was the key material made?", [.nist57("6"), .pci("3.7.1")],
            expected: provenance.expectation(generated: generated, imported: imported)
        ) { key in
            guard let found = key.origin.map(AWSText.excerpt) else {
                return .unavailable("KMS does not report Origin.")
            }
            return provenance.verdict(
                on: found, generated: generated, imported: imported, from: "KMS",
                imported: "It was outside of KMS before its import; see ceremony.record.")
        }
    }

    private var state: ComplianceCheck {
        seen("kms.state", "Is the key enabled?", [.nist57("7")], expected: "Enabled") { key in
            let state = AWSText.excerpt(key.keyState)
            if key.keyState == "Enabled" { return .pass(state) }
            guard key.isScheduledForDeletion else {
                return .fail(state, "The key does not sign. Enable it, or import its key material.")
            }
            let date = KMSKeyMetadata.text(key.deletionDate)
            return .fail(
                date.map { "\(state) until \($0)" } ?? state,
                "AWS deletes the key then. An administrator of the account can cancel that until then."
            )
        }
    }

    private var usage: ComplianceCheck {
        equals(
            "usage.signOnly", "May it only sign?", [.nist57("5.2")], KMSKeyMetadata.usage, "KeyUsage", \.keyUsage,
            cure: "Use a key whose usage is SIGN_VERIFY.")
    }

    private var manager: ComplianceCheck {
        equals(
            "kms.manager", "Does the owner of the account control the key?", [.nist57("6")], "CUSTOMER", "KeyManager",
            \.keyManager, cure: "Use a customer managed key: its owner controls its policy and its deletion.")
    }

    private var expiry: ComplianceCheck {
        let expected = "no expiry"
        return seen("kms.expiry", "Does the key material stay until it is deleted?", [], expected: expected) { key in
            guard let model = key.expirationModel else {
                return key.origin == "EXTERNAL"
                    ? .unavailable("KMS does not report ExpirationModel.") : .pass(expected)
            }
            if model == "KEY_MATERIAL_DOES_NOT_EXPIRE" { return .pass(expected) }
            let date = KMSKeyMetadata.text(key.validTo) ?? "a time that KMS does not report"
            return .fail(
                "expires at \(date)",
                "KMS deletes the imported material then. Import it again without an expiry."
            )
        }
    }

    private var regions: ComplianceCheck {
        seen("kms.multiRegion", "Can other regions hold the key?", [], expected: "false, or known regions") { key in
            guard let isMultiRegion = key.isMultiRegion else {
                return .unavailable("KMS does not report MultiRegion.")
            }
            guard isMultiRegion else { return .notApplicable("false") }
            let regions = key.multiRegion?.replicas?.compactMap(\.region).map(AWSText.excerpt) ?? []
            return .notApplicable(
                "true",
                regions.isEmpty
                    ? "It is a multi-Region key; replicas with the same material can exist in other regions."
                    : "Replicas with the same material are in \(regions.joined(separator: ", "))."
            )
        }
    }
}
