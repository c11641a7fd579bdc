import KeyDrills
import SigningGateway
import SigningKit

/// Each act that must be refused is tried.
struct OperatorMistake {
    let stage: DrillStage

    /// A refused act, by name.
    private struct Attempt {
        let title: String
        let act: () async throws -> Void
    }

    func perform(_ sheet: DrillSheet) async throws {
        let active = try await stage.observe(sheet)
        let staged = try stage.replacementKey()
        sheet.newKey = staged
        for attempt in unproven(active, staged) { await refuse(attempt, sheet) }
        await stage.refusesName(staged, sheet, because: "it is staged")
        try await stage.prove(staged, sheet)
        for attempt in proven(active, staged) { await refuse(attempt, sheet) }
        if let outsider = stage.outsider {
            for attempt in notAllowed(outsider, active, staged) { await refuse(attempt, sheet) }
        } else {
            sheet.deviate("What one who may not is refused was not tried: no client is known that is no administrator.")
        }
        if let throwAway = stage.throwAway {
            try await broken(throwAway, active, sheet)
            try await dualControl(throwAway, sheet)
            await twoAtOnce(throwAway, active, staged, sheet)
        } else {
            sheet.deviate(
                "A key that is down, two persons who are one, and two activations at once were not tried: that needs "
                    + "--throw-away.")
            await untouched(active, sheet)
        }
    }

    private func refuse(_ attempt: Attempt, _ sheet: DrillSheet) async {
        await sheet.step(attempt.title, expected: "It is refused with a sentence.") {
            try await Refusal.of(attempt.act)
        }
    }

    private func order(
        _ action: KeyLifeAction, _ keyID: String, retiring: String? = nil, overlap: Int? = nil,
        reason: String = "Drill",
        at desk: (any KeyDesk)? = nil
    ) async throws {
        _ = try await (desk ?? stage.desk).change(
            KeyChangeOrder(action, keyID, reason: reason, retiring: retiring, overlap: overlap))
    }

    // MARK: What is tried

    private func unproven(_ active: String, _ staged: String) -> [Attempt] {
        [
            Attempt(title: "Retire \(active), the only active key") { try await order(.retire, active) },
            Attempt(title: "Resume \(active), which is not suspended") { try await order(.resume, active) },
            Attempt(title: "Restore \(active), which is not compromised") { try await order(.restore, active) },
            Attempt(title: "Activate \(active), which is active already") {
                try await order(.activate, active, retiring: active, overlap: stage.overlap)
            },
            Attempt(title: "Activate a key that nobody has heard of") {
                try await order(.activate, "NOSUCHKEY0", retiring: active, overlap: stage.overlap)
            },
            Attempt(title: "Begin to destroy \(active), which is active") {
                _ = try await stage.desk.begin(
                    KeyCeremonyOrder(
                        .destroy, issuerID: stage.issuerID, keyID: active,
                        uri: try await stage.key(active).uri ?? "pkcs11:", fingerprint: nil, reason: "Drill"))
            },
        ]
    }

    private func proven(_ active: String, _ staged: String) -> [Attempt] {
        [
            Attempt(title: "Activate \(staged) with an overlap of zero") {
                try await order(.activate, staged, retiring: active, overlap: 0)
            },
            Attempt(title: "Activate \(staged) without an overlap") {
                try await order(.activate, staged, retiring: active)
            },
            Attempt(title: "Activate \(staged) without saying which key it replaces") {
                try await order(.activate, staged, overlap: stage.overlap)
            },
            Attempt(title: "Activate \(staged) in the place of itself") {
                try await order(.activate, staged, retiring: staged, overlap: stage.overlap)
            },
            Attempt(title: "Activate \(staged) without a reason") {
                try await order(.activate, staged, retiring: active, overlap: stage.overlap, reason: "")
            },
        ]
    }

    private func notAllowed(_ outsider: any KeyDesk, _ active: String, _ staged: String) -> [Attempt] {
        [
            Attempt(title: "Activate \(staged) as one who may not") {
                try await order(.activate, staged, retiring: active, overlap: stage.overlap, at: outsider)
            },
            Attempt(title: "Declare \(active) compromised as one who may not") {
                try await order(.compromise, active, at: outsider)
            },
            Attempt(title: "Look at the keys as one who may not") { _ = try await outsider.overview() },
        ]
    }

    /// Keys of which the token has nothing.
    private func broken(_ throwAway: ThrowAwayGateway, _ active: String, _ sheet: DrillSheet) async throws {
        let never = throwAway.makeNoKey()
        await refuse(
            Attempt(title: "Declare \(never.keyID), which is not on the token, and reload") {
                try await throwAway.declare(never)
            }, sheet)
        let vanished = try await throwAway.declareVanishingKey()
        await refuse(
            Attempt(title: "Activate \(vanished), which is staged and gone from the token: it cannot prove itself") {
                try await order(.activate, vanished, retiring: active, overlap: stage.overlap)
            }, sheet)
        await refuse(
            Attempt(title: "Have \(vanished) prove itself") { _ = try await stage.desk.prove(vanished) }, sheet)
    }

    /// One administrator in the part of both.
    private func dualControl(_ throwAway: ThrowAwayGateway, _ sheet: DrillSheet) async throws {
        let keys = try await throwAway.declareDualControl()
        let (first, second) = try throwAway.administrators()
        var proposal: KeyProposal?
        await sheet.step(
            "Activate \(keys.staged) in an account that wants two administrators",
            expected: "It is only proposed, and nothing changes."
        ) {
            _ = try await first.prove(keys.staged)
            let answer = try await first.change(
                KeyChangeOrder(.activate, keys.staged, reason: "Drill", retiring: keys.active, overlap: stage.overlap))
            guard case .proposed(let made) = answer else { return .not("It was done.") }
            proposal = made
            return .asExpected("It is the proposal \(made.id) of \(made.proposer).")
        }
        guard let proposal else { return }
        await refuse(
            Attempt(title: "Approve one's own proposal") {
                _ = try await first.approve(proposal.id, digest: proposal.digest)
            }, sheet)
        await sheet.step("Reject it as the second administrator", expected: "The proposal is gone.") {
            try await second.reject(proposal.id)
            let rest = try await second.overview().proposals
            return .when(rest.isEmpty, rest.isEmpty ? "It is." : "There are still \(rest.count).")
        }
        await refuse(
            Attempt(title: "Approve a proposal that was rejected") {
                _ = try await second.approve(proposal.id, digest: proposal.digest)
            }, sheet)
    }

    /// Two orders at the same moment: one is done, and the other refused.
    private func twoAtOnce(
        _ throwAway: ThrowAwayGateway, _ active: String, _ staged: String, _ sheet: DrillSheet
    ) async {
        await sheet.step(
            "Activate \(staged) twice at once", expected: "One order is done; the other is refused with a sentence."
        ) {
            // Fresh again, whatever has been tried in between.
            _ = try await stage.desk.prove(staged)
            let order = KeyChangeOrder(
                .activate, staged, reason: "Drill", retiring: active, overlap: stage.overlap)
            let outcomes = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do {
                            _ = try await stage.desk.change(order)
                            return nil
                        } catch { return "\(error)" }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let refused = outcomes.compactMap(\.self)
            sheet.rules.ban(active, from: sheet.now())
            return .when(
                refused.count == 1 && refused.allSatisfy(Refusal.isSentence),
                refused.isEmpty ? "Both were done." : "Refused: \(refused.joined(separator: " And: "))")
        }
        await sheet.step("See who signs now", expected: "Requests are served with \(staged).") {
            let begin = sheet.now()
            let first = await stage.load.ledger.first(within: DrillStage.eventLimit) { $0.begun >= begin }
            return .when(first?.keyID == staged, first?.keyID.map { "Served with \($0)." } ?? "Not served.")
        }
    }

    private func untouched(_ active: String, _ sheet: DrillSheet) async {
        await sheet.step("See that nothing has changed", expected: "\(active) is still active.") {
            let now = try await stage.activeKey()
            return .when(now == active, "\(now) is active.")
        }
    }
}
