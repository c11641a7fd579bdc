import KeyLifecycle
import Signing
import SigningKit

extension KeyExamination {
    /// The change that first put the key into force. An adopted key was in force before the register began. The
    /// exception is a key imported or generated after its adoption: the configuration named it before it existed.
    private var activation: KeyLifecycleChange? {
        var history = (key.life?.history ?? [])[...]
        let own = history.drop { $0.action == .adopt }
        if let first = own.first, first.action == .import || first.action == .generate { history = own }
        return history.first { $0.to == .active || $0.to == .retiring }
    }

    private func known(
        _ id: String, _ asks: String, _ requirements: [Requirement], expected: String,
        _ judge: (KeyLifecycleRecord) -> ComplianceVerdict
    ) -> ComplianceCheck {
        let unknown = "The register of key life has no record of this key, or could not be read."
        return ComplianceCheck(
            id, asks, requirements, expected: expected, key.life.map(judge) ?? .unavailable(unknown),
            evidence: key.life.map { "the register of key life, as of its change at \($0.since.text)" } ?? "none")
    }

    var state: ComplianceCheck {
        known(
            "life.state", "In which state is it?", [.nist57("7")],
            expected: "staged, active, retiring, retired or suspended"
        ) { life in
            let destroy = "Revoke it at Apple, destroy it, and remove it from the configuration."
            let state = life.state.rawValue
            let compromised = life.compromisedAt.map { "\(state), compromised at \($0.text)" }
            if let compromised, life.isCompromised { return .fail(compromised, destroy) }
            if let compromised, let restoredAt = life.restoredAt, life.state != .destroyed {
                return .pass(
                    "\(compromised), restored at \(restoredAt.text)",
                    "The compromise was undone as a false alarm. See why: privyseal keys history \(life.keyID).")
            }
            return switch life.state {
            case .staged, .active, .retiring, .retired, .suspended: .pass(state)
            case .compromised: .fail(state, destroy)
            case .destroyed: .fail(state, "Remove it from the configuration.")
            }
        }
    }

    var period: ComplianceCheck {
        known(
            "life.cryptoperiod", "Is it within its cryptoperiod?", [.nist57("5.3.6"), .pci("3.7.4")],
            expected: "at most \(key.cryptoperiod) days since it came into force"
        ) { life in
            if life.state == .destroyed { return .notApplicable("destroyed") }
            guard let activation else {
                return life.state == .staged
                    ? .notApplicable("not in force yet") : .unavailable("The register does not record its activation.")
            }
            guard activation.time <= now else {
                return .fail(
                    activation.time.text, "That is after this report: a clock was changed. Check the key's history.")
            }
            let days = activation.time.days(until: now)
            if days > key.cryptoperiod {
                return .fail("\(days) days", "Import the next key, and rotate: privyseal keys activate.")
            }
            guard activation.action == .adopt else { return .pass("\(days) days") }
            return .unavailable(
                "It was active before the register began; its age is not known.", value: "\(days) days or more")
        }
    }

    var retireAt: ComplianceCheck {
        known(
            "life.retireAt", "Does its retiring have an end time?", [.pci("3.7.5")],
            expected: "a time, for a retiring key"
        ) { life in
            guard life.state == .retiring else { return .notApplicable(nil, "It is \(life.state.rawValue).") }
            guard let time = life.retireAt else { return .fail("none", "Set a time: privyseal keys retire.") }
            return time > now ? .pass(time.text) : .fail(time.text, "That was before this report.")
        }
    }

    var history: ComplianceCheck {
        known(
            "life.history", "Does each change have a time, an actor and a reason?",
            [.nist57("7")], expected: "all of them, in order"
        ) { life in
            guard !life.history.isEmpty else { return .fail("no change") }
            let faults = life.history.filter { $0.actor.isEmpty || $0.reason.isEmpty }.count
            let isOrdered = zip(life.history, life.history.dropFirst()).allSatisfy { $0.time <= $1.time }
            let count = "\(life.history.count) change\(life.history.count == 1 ? "" : "s")"
            return faults == 0 && isOrdered
                ? .pass(count) : .fail(count, "\(faults) without actor or reason, or out of order.")
        }
    }

    private var arrival: KeyLifecycleChange? {
        key.life?.history.last { $0.action == .import || $0.action == .generate }
    }

    var job: ComplianceCheck {
        known(
            "ceremony.record", "Is its import or generation recorded?",
            [.pci("3.7.1"), .pci("3.7.2")], expected: "an import or a generation"
        ) { _ in
            guard let arrival else {
                return .unavailable(
                    "It is older than the register. Keep the paper record of its import with this report.")
            }
            // The prefix `reported.` marks what the provisioning command reported. Older registers lack it.
            let method = arrival.evidence["reported.method"] ?? arrival.evidence["method"]
            let reported = method.map { ", reported as \($0)" } ?? ""
            let evidence = arrival.evidence.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return .pass(
                "\(arrival.action.rawValue)\(reported), by \(arrival.actor) at \(arrival.time.text)",
                evidence.isEmpty ? nil : evidence.joined(separator: ", "))
        }
    }

    var twoPeople: ComplianceCheck {
        let (id, asks) = ("ceremony.dualControl", "Did two people decide each change to its rights?")
        let expected = "two administrators"
        guard hasDualControl else {
            let reason = "The account lets one administrator decide; see accounts.dualControl."
            return ComplianceCheck(id, asks, expected: expected, .notApplicable(nil, reason))
        }
        return known(id, asks, [], expected: expected) { life in
            let wanted = life.history.filter { $0.action.requiresDualControl }
            let alone = wanted.filter { $0.approver == nil || $0.approver == $0.actor }
            guard alone.isEmpty else {
                return .fail(
                    "\(alone.count) of \(wanted.count) by one alone",
                    "Before the account had dual control, or bypassing it: "
                        + alone.map { "\($0.action.rawValue) at \($0.time.text)" }.joined(separator: ", "))
            }
            return wanted.isEmpty ? .notApplicable("no such change yet") : .pass("\(wanted.count) by two")
        }
    }
}
