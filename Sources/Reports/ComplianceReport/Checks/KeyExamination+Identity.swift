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
                return (nil, .unavailable, "The \(inspection.holder) does not show the public key.")
            }
            guard let expected else {
                return (
                    "\(found)", .fail, "No configuration or register pins this key. Pin it: publicKey: \(found)"
                )
            }
            return found == expected
                ? ("\(found)", .pass, nil)
                : ("\(found)", .fail, "Another key has replaced it. Suspend it, and find out who replaced it.")
        }
    }

    var custody: ComplianceCheck {
        seen(
            "custody", "Is it in a cryptographic module in hardware?", [.pci("3.6.1.2")],
            expected: "a token in hardware"
        ) { inspection in
            let protection = inspection.protection
            return switch protection.kind {
            case .hardware: (protection.text, .pass, protection.detail)
            case .unknown: (protection.text, .unavailable, protection.detail)
            case .software where acceptsSoftware:
                (protection.text, .notApplicable, "Accepted because of --accept-software.")
            case .software:
                (protection.text, .fail, "A person with this machine and the PIN or the file has the key.")
            }
        }
    }

    /// The pairwise consistency test: the key signs, and its public key verifies.
    var pairwise: ComplianceCheck {
        let (value, result, detail, evidence): (String?, ComplianceCheck.Result, String?, String) =
            switch key.proof {
            case .valid(let time): ("the signature verifies", .pass, nil, "signed and verified at \(time.text)")
            case .wrong:
                ("the signature does not verify", .fail, "The private and the public key do not match.", "signed now")
            case .unavailable(let reason): (nil, .unavailable, reason, "none")
            }
        return ComplianceCheck(
            "selftest.pairwise", "Do private and public key belong together?",
            [], value: value, expected: "the signature verifies", result,
            detail: detail, evidence: evidence)
    }
}
