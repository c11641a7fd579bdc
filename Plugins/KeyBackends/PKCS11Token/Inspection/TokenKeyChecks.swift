import PKCS11
import SigningKit

/// The checks of a key on a token for a compliance report.
struct TokenKeyChecks {
    let provenance: KeyProvenance
    let inspected: Result<InspectedTokenKey, KeyError>

    /// In the order of the report.
    var all: [ComplianceCheck] { tokenChecks + attributeChecks + probeChecks + uniquenessChecks }

    /// Makes a check from the key's inspection. Without one, the check is unavailable and says why.
    func seen(
        _ id: String, _ asks: String, _ requirements: [Requirement], expected: String,
        _ judge: (InspectedTokenKey) -> ComplianceVerdict
    ) -> ComplianceCheck {
        let verdict: ComplianceVerdict =
            switch inspected {
            case .success(let key): judge(key)
            case .failure(let error): .unavailable("\(error)")
            }
        return ComplianceCheck(id, asks, requirements, expected: expected, verdict, evidence: "")
    }

    private var tokenChecks: [ComplianceCheck] {
        [
            pin("token.pinCountLow", "Was no wrong PIN given since the last login?", "CKF_USER_PIN_COUNT_LOW"),
            pin("token.pinFinalTry", "Is more than one PIN attempt left?", "CKF_USER_PIN_FINAL_TRY"),
            pin("token.pinLocked", "Is the PIN not locked?", "CKF_USER_PIN_LOCKED"),
            pin("token.pinToBeChanged", "Was the PIN changed after delivery?", "CKF_USER_PIN_TO_BE_CHANGED"),
            flag("token.login", "Does the token require a login?", "CKF_LOGIN_REQUIRED"),
            flag("token.rng", "Does it have its own random number generator?", "CKF_RNG"),
            // The digest of the library, so that an auditor can compare it with the vendor's.
            seen(
                "token.module", "Which library does the token use?", [],
                expected: "the digest that its vendor publishes"
            ) { key in
                let token = key.token
                guard let digest = token.digest else {
                    return .unavailable("Its file cannot be read.", value: token.path)
                }
                return .notApplicable("sha256:\(digest)", "\(token.path), version \(token.library.version)")
            },
        ]
    }

    /// Passes if the token does not set the flag.
    private func pin(_ id: String, _ asks: String, _ flag: String) -> ComplianceCheck {
        if case .failure(let error) = inspected, error.concernsLogin {
            // A refused or blocked login has the same meaning as these flags.
            return ComplianceCheck(
                id, asks, [], value: "no login was tried or taken", expected: "not \(flag)", .fail, detail: "\(error)",
                evidence: "the token's flags and answer")
        }
        return seen(id, asks, [], expected: "not \(flag)") { key in
            guard key.token.flags.contains(flag) else { return .pass("not \(flag)") }
            return .fail(flag, "Find out who tried. The flag is from before this report's login.")
        }
    }

    private func flag(_ id: String, _ asks: String, _ flag: String) -> ComplianceCheck {
        seen(id, asks, [], expected: flag) { key in
            key.token.flags.contains(flag) ? .pass(flag) : .fail("not \(flag)")
        }
    }

    /// Attempts to extract the key. The token must refuse them.
    var probeChecks: [ComplianceCheck] {
        [
            probe("probe.value", "Does the token refuse to return CKA_VALUE?", "CKR_ATTRIBUTE_SENSITIVE", \.value),
            probe("probe.wrap", "Does the token refuse to wrap it?", "CKR_KEY_UNEXTRACTABLE", \.wrap),
        ]
    }

    private func probe(
        _ id: String, _ asks: String, _ answer: String, _ probe: (NegativeProbes.Answers) -> NegativeProbes.Answer
    ) -> ComplianceCheck {
        seen(id, asks, [.pci("3.6.1.2"), .pci("3.7.3")], expected: "refused with \(answer)") { key in
            switch key.probes.map(probe) {
            case .refused(let answer): .pass("refused with \(answer)")
            case .given:
                .fail(
                    "given out",
                    "Any person with the PIN has the key. Assume that it was copied: make a new one, and destroy this."
                )
            case .untried(let reason): .unavailable("It could not be tried: \(reason).")
            case nil: .unavailable("It was not tried, because not exactly one key has this name.")
            }
        }
    }

    var uniquenessChecks: [ComplianceCheck] {
        [
            count("unique.uri", "Does its URI name exactly one private key?", { $0.uri }),
            count("unique.id", "Is its CKA_ID unique?", \.id),
            count("unique.label", "Is its CKA_LABEL unique?", \.label),
        ]
    }

    private func count(
        _ id: String, _ asks: String, _ number: (InspectedTokenKey.Objects) -> Int?
    ) -> ComplianceCheck {
        seen(id, asks, [.pci("3.7.7")], expected: "1 private key") { key in
            guard let count = number(key.objects) else {
                return .unavailable("It has none, or not exactly one key has this name.")
            }
            if count == 1 { return .pass("1 private key") }
            return .fail(
                "\(count) private keys", "Give each key unique names, and name this one by object and id.")
        }
    }
}
