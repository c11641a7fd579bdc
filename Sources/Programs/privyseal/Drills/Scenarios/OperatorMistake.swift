import KeyDrills
import KeyLifecycle
import SigningKit

/// Tries every action that must be refused.
struct OperatorMistake {
    let environment: DrillEnvironment

    func perform(_ log: DrillLog) async throws {
        let active = try await environment.observe(log)
        let staged = try environment.replacementKey()
        log.record.keys.new = staged
        await unproven(active, log)
        await environment.refusesName(staged, log, because: "it is staged")
        try await environment.prove(staged, log)
        await proven(active, staged, log)
        if let outsider = environment.outsider {
            await notAllowed(RemoteKeyLifecycleClient(outsider), active, staged, log)
        } else {
            log.deviate("Requests without the right to change keys were not tried: no such client is known.")
        }
        if let throwAway = environment.throwAway {
            try await broken(throwAway, active, log)
            try await dualControl(throwAway, log)
            await twoAtOnce(throwAway, active, staged, log)
        } else {
            log.deviate(
                "A key that is down, a self-approval, and two activations at once were not tried: that needs "
                    + "--throw-away.")
            await untouched(active, log)
        }
    }

    private func refuse(_ title: String, _ log: DrillLog, _ act: () async throws -> Void) async {
        await log.step(title, expected: "It is refused with a sentence.") { try await Refusal.of(act) }
    }

    /// - Parameter client: the one that gives the orders; nil for the administrator.
    private func refuse(
        _ log: DrillLog, at client: RemoteKeyLifecycleClient? = nil, _ orders: KeyValuePairs<String, KeyChangeOrder>
    ) async {
        for (title, order) in orders {
            await refuse(title, log) { _ = try await (client ?? environment.lifecycleClient).change(order) }
        }
    }

    private func order(
        _ action: KeyLifecycleAction, _ keyID: String, retiring: String? = nil, overlap: Int? = nil,
        reason: String = "Drill"
    ) -> KeyChangeOrder {
        KeyChangeOrder(action, keyID, reason: reason, retiring: retiring, overlap: overlap)
    }

    /// The correct order, if both keys are in the right states.
    private func activation(of staged: String, retiring active: String, reason: String = "Drill") -> KeyChangeOrder {
        order(.activate, staged, retiring: active, overlap: environment.overlap, reason: reason)
    }

    // MARK: Attempts

    private func unproven(_ active: String, _ log: DrillLog) async {
        await refuse(
            log,
            [
                "Retire \(active), the only active key": order(.retire, active),
                "Resume \(active), which is not suspended": order(.resume, active),
                "Restore \(active), which is not compromised": order(.restore, active),
                "Activate \(active), which is active already": activation(of: active, retiring: active),
                "Activate an unknown key": activation(of: "NOSUCHKEY0", retiring: active),
            ])
        await refuse("Begin to destroy \(active), which is active", log) {
            let uri = try await environment.key(active).uri ?? "pkcs11:"
            _ = try await environment.lifecycleClient.begin(
                ProvisioningOrder(
                    .destroy, issuerID: environment.issuerID, keyID: active, uri: uri, fingerprint: nil,
                    reason: "Drill"))
        }
    }

    private func proven(_ active: String, _ staged: String, _ log: DrillLog) async {
        await refuse(
            log,
            [
                "Activate \(staged) with an overlap of zero": order(.activate, staged, retiring: active, overlap: 0),
                "Activate \(staged) without an overlap": order(.activate, staged, retiring: active),
                "Activate \(staged) without saying which key it replaces":
                    order(.activate, staged, overlap: environment.overlap),
                "Activate \(staged) in the place of itself": activation(of: staged, retiring: staged),
                "Activate \(staged) without a reason": activation(of: staged, retiring: active, reason: ""),
            ])
    }

    private func notAllowed(
        _ outsider: RemoteKeyLifecycleClient, _ active: String, _ staged: String, _ log: DrillLog
    ) async {
        await refuse(
            log, at: outsider,
            [
                "Activate \(staged) without the right to do so": activation(of: staged, retiring: active),
                "Declare \(active) compromised without the right to do so": order(.compromise, active),
            ])
        await refuse("Look at the keys without the right to do so", log) { _ = try await outsider.overview() }
    }

    /// Keys that are not on the token.
    private func broken(_ throwAway: TemporaryGateway, _ active: String, _ log: DrillLog) async throws {
        let never = throwAway.makeNoKey()
        await refuse("Declare \(never.keyID), which is not on the token, and reload", log) {
            try await throwAway.declare(never)
        }
        let vanished = try await throwAway.declareVanishingKey()
        await refuse(
            "Activate \(vanished), which is staged and gone from the token: it cannot prove itself", log
        ) {
            _ = try await environment.lifecycleClient.change(activation(of: vanished, retiring: active))
        }
        await refuse("Have \(vanished) prove itself", log) {
            _ = try await environment.lifecycleClient.prove(vanished)
        }
    }

    /// One administrator attempts both parts of dual control.
    private func dualControl(_ throwAway: TemporaryGateway, _ log: DrillLog) async throws {
        let keys = try await throwAway.declareDualControl()
        let (first, second) = try throwAway.administrators()
        var proposal: KeyProposal?
        await log.step(
            "Activate \(keys.staged) in an account that requires two administrators",
            expected: "It is only proposed, and nothing changes."
        ) {
            _ = try await first.prove(keys.staged)
            let answer = try await first.change(activation(of: keys.staged, retiring: keys.active))
            guard case .proposed(let made) = answer else { return .not("It was done.") }
            proposal = made
            return .asExpected("It is the proposal \(made.id) of \(made.proposer).")
        }
        guard let proposal else { return }
        await refuse("Approve one's own proposal", log) {
            _ = try await first.approve(proposal.id, digest: proposal.digest)
        }
        await log.step("Reject it as the second administrator", expected: "The proposal is gone.") {
            try await second.reject(proposal.id)
            let rest = try await second.overview().proposals
            return .when(rest.isEmpty, rest.isEmpty ? "It is." : "There are still \(rest.count).")
        }
        await refuse("Approve a proposal that was rejected", log) {
            _ = try await second.approve(proposal.id, digest: proposal.digest)
        }
    }

    /// Two simultaneous orders: one is done, and the other refused.
    private func twoAtOnce(
        _ throwAway: TemporaryGateway, _ active: String, _ staged: String, _ log: DrillLog
    ) async {
        await log.step(
            "Activate \(staged) twice at once", expected: "One order is done; the other is refused with a sentence."
        ) {
            // The proof must be fresh, regardless of the earlier steps.
            _ = try await environment.lifecycleClient.prove(staged)
            let order = activation(of: staged, retiring: active)
            let outcomes = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do {
                            _ = try await environment.lifecycleClient.change(order)
                            return nil
                        } catch { return "\(error)" }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let refused = outcomes.compactMap(\.self)
            log.rules.ban(active, from: log.now())
            return .when(
                refused.count == 1 && refused.allSatisfy(Refusal.isSentence),
                refused.isEmpty ? "Both were done." : "Refused: \(refused.joined(separator: " And: "))")
        }
        await log.step("Check which key signs now", expected: "Requests are served with \(staged).") {
            let begin = log.now()
            let first = await environment.answer { $0.begun >= begin }
            return .when(first?.keyID == staged, first?.keyID.map { "Served with \($0)." } ?? "Not served.")
        }
    }

    private func untouched(_ active: String, _ log: DrillLog) async {
        await log.step("See that nothing has changed", expected: "\(active) is still active.") {
            let now = try await environment.activeKey()
            return .when(now == active, "\(now) is active.")
        }
    }
}
