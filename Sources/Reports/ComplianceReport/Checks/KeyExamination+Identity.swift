import KeyLifecycle
import SigningKit

extension KeyExamination {
    var identity: ComplianceCheck {
        let expected = key.pinned ?? key.life?.fingerprint
        let source = key.pinned != nil ? "configuration" : "register"
        return seen(
            "identity.pin", "Is it the key that was pinned?", [.pci("3.7.7")],
            expected: expected.map { "\($0) (\(source))" } ?? "a pinned fingerprint"
        ) { inspection in
            guard let found = inspection.fingerprint else {
                return .unavailable("The \(inspection.holder) does not show the public key.")
            }
            guard let expected else {
                return .fail("\(found)", "No configuration or register pins this key. Pin it: publicKey: \(found)")
            }
            return found == expected
                ? .pass("\(found)")
                : .fail("\(found)", "Another key has replaced it. Suspend it, and find out who replaced it.")
        }
    }

    var custody: ComplianceCheck {
        seen(
            "custody", "Is it in a cryptographic module in hardware?", [.pci("3.6.1.2")],
            expected: "a token in hardware"
        ) { inspection in
            let protection = inspection.protection
            return switch protection.kind {
            case .hardware: .pass(protection.text, protection.detail)
            case .unknown: .unavailable(protection.detail, value: protection.text)
            case .software where acceptsSoftware:
                .notApplicable(protection.text, "Accepted because of --accept-software.")
            case .software:
                .fail(protection.text, "A person with this machine and the PIN or the file has the key.")
            }
        }
    }

    /// The pairwise consistency test: the key signs, and its public key verifies.
    var pairwise: ComplianceCheck {
        let expected = "the signature verifies"
        let (verdict, evidence): (ComplianceVerdict, String) =
            switch key.proof {
            case .valid(let time): (.pass(expected), "signed and verified at \(time.text)")
            case .wrong:
                (.fail("the signature does not verify", "The private and the public key do not match."), "signed now")
            case .unavailable(let reason): (.unavailable(reason), "none")
            }
        return ComplianceCheck(
            "selftest.pairwise", "Do private and public key belong together?", expected: expected, verdict,
            evidence: evidence)
    }
}
