internal import SigningKit

extension KeyExamination {
    var tokenChecks: [ComplianceCheck] {
        if isInFile { return [] }
        return [
            pin("token.pinCountLow", "Was no wrong PIN given since the last login?", "CKF_USER_PIN_COUNT_LOW"),
            pin("token.pinFinalTry", "Is more than one PIN attempt left?", "CKF_USER_PIN_FINAL_TRY"),
            pin("token.pinLocked", "Is the PIN not locked?", "CKF_USER_PIN_LOCKED"),
            pin(
                "token.pinToBeChanged", "Was the PIN changed after delivery?",
                "CKF_USER_PIN_TO_BE_CHANGED"),
            flag("token.login", "Does the token require a login?", "CKF_LOGIN_REQUIRED"),
            flag("token.rng", "Does it have its own random number generator?", "CKF_RNG"),
            module,
        ]
    }

    /// Passes if the token does not set the flag.
    private func pin(_ id: String, _ asks: String, _ flag: String) -> ComplianceCheck {
        switch key.inspection {
        case .unseen(.loginRefused(let sentence)), .unseen(.loginBlocked(let sentence)):
            // A refused or blocked login has the same meaning as these flags.
            return ComplianceCheck(
                id, asks, [], value: "no login was tried or taken",
                expected: "not \(flag)",
                .fail, detail: sentence, evidence: "the token's flags and answer")
        default: break
        }
        return seen(id, asks, [], expected: "not \(flag)") { inspection in
            guard let token = inspection.token else { return (nil, .unavailable, nil) }
            guard token.flags.contains(flag) else { return ("not \(flag)", .pass, nil) }
            return (flag, .fail, "Find out who tried. The flag is from before this report's login.")
        }
    }

    private func flag(_ id: String, _ asks: String, _ flag: String) -> ComplianceCheck {
        seen(id, asks, [], expected: flag) { inspection in
            guard let token = inspection.token else { return (nil, .unavailable, nil) }
            let has = token.flags.contains(flag)
            return (has ? flag : "not \(flag)", has ? .pass : .fail, nil)
        }
    }

    /// Reports the digest of the library, so that an auditor can compare it with the vendor's.
    private var module: ComplianceCheck {
        seen(
            "token.module", "Which library does the token use?", [],
            expected: "the digest that its vendor publishes"
        ) { inspection in
            guard let module = inspection.token?.module else { return (nil, .unavailable, nil) }
            guard let digest = module.digest else {
                return (module.path, .unavailable, "Its file cannot be read.")
            }
            return ("sha256:\(digest)", .notApplicable, "\(module.path), version \(module.version)")
        }
    }

    var fileChecks: [ComplianceCheck] {
        guard isInFile else { return [] }
        return [
            seen("file.mode", "Can only its owner read it?", [], expected: "600 or 400") {
                guard let mode = $0.file?.mode else {
                    return (nil, .unavailable, "The file no longer exists, or cannot be examined.")
                }
                let isFit = ["600", "400"].contains(mode)
                return (mode, isFit ? .pass : .fail, isFit ? nil : "Run chmod 600 on it.")
            },
            seen(
                "file.memory", "Is the key in memory that is never swapped or dumped?", [.pci("3.7.3")],
                expected: "locked"
            ) {
                guard let memory = $0.file?.memory else { return (nil, .unavailable, nil) }
                return (memory.rawValue, memory == .locked ? .pass : .fail, "As of the process that made this report.")
            },
        ]
    }
}
