import KeyLifecycle
import Signing
import SigningKit

/// Makes the checks that are not about a single key.
struct InstallationExamination {
    let findings: ComplianceFindings
    let now: Timestamp

    var sections: [ComplianceReport.Section] {
        [
            .init(id: "selfTests", title: "Self-tests", checks: [selfTest]),
            .init(id: "accounts", title: "Accounts", checks: accounts), register,
            .init(id: "clients", title: "Clients and their reach", checks: clients),
            .init(id: "listeners", title: "Listeners", checks: listeners), signers, audit,
            .init(id: "drills", title: "Drills", checks: drills),
        ]
    }

    private var selfTest: ComplianceCheck {
        let detail =
            "A published signature verifies, and two changed ones do not (RFC 6979, A.2.5). The test of each key is "
            + "its pairwise consistency."
        return ComplianceCheck(
            "selftest.knownAnswer", "Does signature verification pass its known-answer test?", expected: "right",
            findings.knowsAnswer ? .pass("right", detail) : .fail("wrong", detail), evidence: "run for this report")
    }

    /// A check that finds `expected`, or fails.
    ///
    /// - Parameters:
    ///   - found: the other value; nil if the check passes.
    ///   - detail: of a failure only.
    private func check(
        _ id: String, _ asks: String, _ requirements: [Requirement] = [], fails found: String?, expected: String,
        detail: String, evidence: String = "the configuration"
    ) -> ComplianceCheck {
        ComplianceCheck(
            id, asks, requirements, expected: expected, found.map { .fail($0, detail) } ?? .pass(expected),
            evidence: evidence)
    }

    private var accounts: [ComplianceCheck] {
        findings.accounts.map { account in
            check(
                "accounts.dualControl.\(account.issuerID)",
                "Does the account \(account.issuerID) require two people for changes to a key's rights?",
                fails: account.hasDualControl ? nil : "one administrator is enough", expected: "two administrators",
                detail: "Set dualControl: true for the account.")
        }
    }

    // MARK: The register

    private var register: ComplianceReport.Section {
        var section = ComplianceReport.Section(id: "register", title: "Register of key life", checks: [])
        let evidence = "the register of key life"
        switch findings.register {
        case .unknown(let reason):
            section.checks = [
                ComplianceCheck(
                    "register.known", "Is there a register of what happens to keys?", expected: "a register",
                    .unavailable(reason), evidence: "none")
            ]
        case .known(let differences, let jobs, let proposals):
            section.facts = proposals.map {
                .init("Proposal", "\($0.action.rawValue) \($0.keyID), by \($0.proposer), until \($0.expires.text)")
            }
            let open = jobs.map { "\($0.action.rawValue) of \($0.keyID) by \($0.actor) since \($0.begun.text)" }
            section.checks = [
                check(
                    "register.agrees", "Do configuration and register agree?", [.pci("3.7.7")],
                    fails: differences.isEmpty ? nil : "\(differences.count) differences", expected: "they agree",
                    detail: differences.joined(separator: " "), evidence: evidence),
                check(
                    "register.ceremonies", "Is each import, generation and destruction finished?",
                    [.pci("3.7.1"), .pci("3.7.5")], fails: open.isEmpty ? nil : "\(open.count) open",
                    expected: "all of them",
                    detail: open.joined(separator: ", ")
                        + ". Run the same command again; it continues where it stopped.",
                    evidence: evidence),
            ]
        }
        return section
    }

    // MARK: Clients and listeners

    private var clients: [ComplianceCheck] {
        let administrators = findings.clients.filter(\.isAdministrator)
        let both = administrators.filter { !$0.reach.isEmpty }.map(\.name)
        var checks = [
            check(
                "clients.authenticated", "Must every client that requests a signature authenticate?",
                fails: findings.allowsAnonymous ? "anonymous callers may have everything" : nil,
                expected: "all are named", detail: "Give each caller a client of its own, and set anonymous: false."),
            check(
                "clients.rolesApart", "Is no client both administrator and signer?",
                fails: both.isEmpty ? nil : both.joined(separator: ", "), expected: "roles are apart",
                detail: "Give each a second client for one of the two roles."),
        ]
        if findings.accounts.contains(where: \.hasDualControl) {
            let count = "\(administrators.count)"
            checks.append(
                ComplianceCheck(
                    "clients.administrators", "Are there two administrators for dual control?", expected: "2 or more",
                    administrators.count >= 2 ? .pass(count) : .fail(count)))
        }
        return checks
            + findings.clients.map { client in
                let reach = client.reach.isEmpty ? "no signature" : client.reach.joined(separator: "; ")
                let proofs = client.proofs.joined(separator: ", ")
                return ComplianceCheck(
                    "clients.reach.\(client.name)", "Which signatures may \(client.name) request?",
                    expected: "what it needs; for people to judge",
                    .notApplicable(
                        reach,
                        (client.isAdministrator ? "Administrator. " : "")
                            + (proofs.isEmpty ? "It has no credentials." : "Authenticates by \(proofs)")))
            }
    }

    private var listeners: [ComplianceCheck] {
        findings.listeners.map { listener in
            let verdict: ComplianceVerdict =
                switch listener.protection {
                case .tls(let version, let certificates):
                    .pass("TLS \(version) or later", "Client certificates: \(certificates).")
                case .proxy:
                    .unavailable(
                        "This report cannot see what the proxy does: check the proxy itself.",
                        value: "plain, behind a proxy")
                case .local: .notApplicable("plain, on this machine only", "No other machine can reach it.")
                case .none: .fail("plain, for other machines", "Set tls for this listener.")
                }
            return ComplianceCheck(
                "tls.\(listener.role)", "Is the \(listener.role) listener encrypted (\(listener.address))?",
                expected: "TLS 1.2 or later", verdict)
        }
    }
}
