internal import SigningKit

extension TokenKeyChecks {
    private static let storage: [Requirement] = [.pci("3.6.1.2"), .pci("3.7.3")]

    /// Attempts to extract the key. The token must refuse them.
    var probeChecks: [ComplianceCheck] {
        [
            probe("probe.value", "Does the token refuse to return CKA_VALUE?", "CKR_ATTRIBUTE_SENSITIVE") {
                $0.value
            },
            probe("probe.wrap", "Does the token refuse to wrap it?", "CKR_KEY_UNEXTRACTABLE") { $0.wrap },
        ]
    }

    private func probe(
        _ id: String, _ asks: String, _ answer: String, _ probe: (NegativeProbes.Answers) -> NegativeProbes.Answer
    ) -> ComplianceCheck {
        seen(id, asks, Self.storage, expected: "refused with \(answer)") { key in
            switch key.probes.map(probe) {
            case .refused(let answer): ("refused with \(answer)", .pass, nil)
            case .given:
                (
                    "given out", .fail,
                    "Any person with the PIN has the key. Assume that it was copied: make a new one, and destroy this."
                )
            case .untried(let reason): (nil, .unavailable, "It could not be tried: \(reason).")
            case nil: (nil, .unavailable, "It was not tried, because not exactly one key has this name.")
            }
        }
    }

    var uniquenessChecks: [ComplianceCheck] {
        [
            count("unique.uri", "Does its URI name exactly one private key?", { $0.uri }),
            count("unique.id", "Is its CKA_ID unique?", { $0.id }),
            count("unique.label", "Is its CKA_LABEL unique?", { $0.label }),
        ]
    }

    private func count(
        _ id: String, _ asks: String, _ number: (InspectedTokenKey.Objects) -> Int?
    ) -> ComplianceCheck {
        seen(id, asks, [.pci("3.7.7")], expected: "1 private key") { key in
            guard let count = number(key.objects) else {
                return (nil, .unavailable, "It has none, or not exactly one key has this name.")
            }
            return (
                "\(count) private key\(count == 1 ? "" : "s")", count == 1 ? .pass : .fail,
                count == 1 ? nil : "Give each key unique names, and name this one by object and id."
            )
        }
    }
}
