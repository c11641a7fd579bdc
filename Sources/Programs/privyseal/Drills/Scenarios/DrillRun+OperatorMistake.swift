import KeyDrills
import KeyLifecycle

extension DrillRun {
    /// Tries every action that must be refused.
    func operatorMistake() async throws {
        let active = try await observe()
        let staged = environment.replacement
        log.record.keys.new = staged
        await refuse([
            "Retire \(active), the only active key": order(.retire, active),
            "Resume \(active), which is not suspended": order(.resume, active),
            "Restore \(active), which is not compromised": order(.restore, active),
            "Activate \(active), which is active already": activation(of: active, retiring: active),
            "Activate an unknown key": activation(of: "NOSUCHKEY0", retiring: active),
        ])
        await refuse("Begin to destroy \(active), which is active") {
            let uri = try await key(active).uri ?? "pkcs11:"
            _ = try await client.begin(
                ProvisioningOrder(
                    .destroy, issuerID: environment.issuerID, keyID: active, uri: uri, fingerprint: nil,
                    reason: "Drill"))
        }
        await refusesName(staged, because: "it is staged")
        try await prove(staged)
        await refuse([
            "Activate \(staged) with an overlap of zero": order(.activate, staged, retiring: active, overlap: 0),
            "Activate \(staged) without an overlap": order(.activate, staged, retiring: active),
            "Activate \(staged) without saying which key it replaces": order(.activate, staged, overlap: overlap),
            "Activate \(staged) in the place of itself": activation(of: staged, retiring: staged),
            "Activate \(staged) without a reason": activation(of: staged, retiring: active, reason: ""),
        ])
        if let outsider = environment.outsider.map(RemoteKeyLifecycleClient.init) {
            await refuse(
                [
                    "Activate \(staged) without the right to do so": activation(of: staged, retiring: active),
                    "Declare \(active) compromised without the right to do so": order(.compromise, active),
                ], at: outsider)
            await refuse("Look at the keys without the right to do so") { _ = try await outsider.overview() }
        } else {
            log.deviate("Requests without the right to change keys were not tried: no such client is known.")
        }
        if let throwAway = environment.throwAway {
            try await useMissingKeys(throwAway, active)
            try await approveAlone(throwAway)
            await activateTwice(active, staged)
        } else {
            log.deviate(
                "A key that is down, a self-approval, and two activations at once were not tried: that needs "
                    + "--throw-away.")
            await serves(active, "See that nothing has changed")
        }
    }

    /// - Parameter client: the one that gives the orders; nil for the administrator.
    private func refuse(
        _ orders: KeyValuePairs<String, KeyChangeOrder>, at client: RemoteKeyLifecycleClient? = nil
    ) async {
        for (title, order) in orders {
            await refuse(title) { _ = try await (client ?? self.client).change(order) }
        }
    }

    private func useMissingKeys(_ throwAway: TemporaryGateway, _ active: String) async throws {
        let never = TemporaryConfiguration.Key(
            keyID: "DRILLMISS2", uri: throwAway.tokens.uri(throwAway.token, object: "DRILLMISS2"),
            fingerprint: throwAway.staged.fingerprint)
        await refuse("Declare \(never.keyID), which is not on the token, and reload") {
            try await throwAway.declare(never)
        }
        let vanished = "DRILLMISS1"
        try await throwAway.declare(try await throwAway.makeKey(vanished))
        try await throwAway.tokens.removeKey(vanished, from: throwAway.token)
        await refuse([
            "Activate \(vanished), which is staged and gone from the token: it cannot prove itself":
                activation(of: vanished, retiring: active)
        ])
        await refuse("Have \(vanished) prove itself") { _ = try await client.prove(vanished) }
    }

    /// One administrator attempts both parts of dual control.
    private func approveAlone(_ throwAway: TemporaryGateway) async throws {
        let keys = try await throwAway.declareDualControl()
        let first = RemoteKeyLifecycleClient(try throwAway.adminClient("first-officer"))
        let second = RemoteKeyLifecycleClient(try throwAway.adminClient("second-officer"))
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
        await refuse("Approve one's own proposal") {
            _ = try await first.approve(proposal.id, digest: proposal.digest)
        }
        await log.step("Reject it as the second administrator", expected: "The proposal is gone.") {
            try await second.reject(proposal.id)
            let rest = try await second.overview().proposals
            return .when(rest.isEmpty, rest.isEmpty ? "It is." : "There are still \(rest.count).")
        }
        await refuse("Approve a proposal that was rejected") {
            _ = try await second.approve(proposal.id, digest: proposal.digest)
        }
    }

    /// Two simultaneous orders: one is done, and the other refused.
    private func activateTwice(_ active: String, _ staged: String) async {
        await log.step(
            "Activate \(staged) twice at once", expected: "One order is done; the other is refused with a sentence."
        ) {
            // The proof must be fresh, regardless of the earlier steps.
            _ = try await client.prove(staged)
            let (client, order) = (self.client, activation(of: staged, retiring: active))
            @Sendable func refusal() async -> String? {
                do { _ = try await client.change(order) } catch { return "\(error)" }
                return nil
            }
            async let other = refusal()
            let refused = [await refusal(), await other].compactMap(\.self)
            log.rules.ban(active, from: log.now())
            return .when(
                refused.count == 1 && refused.allSatisfy(Refusal.isSentence),
                refused.isEmpty ? "Both were done." : "Refused: \(refused.joined(separator: " And: "))")
        }
        await serves(staged, "Check which key signs now")
    }
}
