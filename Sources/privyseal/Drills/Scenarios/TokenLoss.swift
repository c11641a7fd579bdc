import KeyDrills
import SigningKit

/// The token goes away and comes back.
struct TokenLoss {
    let stage: DrillStage

    func perform(_ sheet: DrillSheet) async throws {
        let key = try await stage.observe(sheet)
        let lost = try await lose(sheet)
        await unready(sheet)
        let back = try await giveBack(sheet)
        try await recover(key, lost, back, sheet)
        await steady(key, sheet)
    }

    private var limit: Duration { stage.throwAway == nil ? stage.patience : DrillStage.tokenLimit }

    /// - Returns: when it was gone.
    private func lose(_ sheet: DrillSheet) async throws -> Timestamp {
        var lost = sheet.now()
        try await sheet.essential(
            "Take the token away", expected: "Requests are refused with 503, and none is wrongly signed."
        ) {
            sheet.rules.beginOutage(lost)
            if let throwAway = stage.throwAway {
                try throwAway.unplug()
                lost = sheet.now()
            } else {
                stage.ask("Take the token away now.")
            }
            let start = lost
            guard let first = await stage.load.ledger.first(within: limit, where: { $0.isFailed && $0.ended >= start })
            else { return .not("No request was refused.") }
            // Of a token that a person pulled, nobody knows the moment; the last answer before comes close.
            if stage.throwAway == nil {
                lost = stage.load.ledger.answers.last { $0.isServed && $0.ended <= first.ended }?.ended ?? lost
            }
            sheet.time(.detection, from: lost, to: first.ended)
            return .when(
                first.outcome == .failed("503"),
                "The first request that was refused ended \(sheet.timings[.detection] ?? 0) ms later: "
                    + "\(Self.text(first.outcome)).")
        }
        return lost
    }

    private func unready(_ sheet: DrillSheet) async {
        await sheet.step("Ask /readyz", expected: "It says no, with 503.") {
            let isUnready = try await stage.wait(DrillStage.eventLimit) { await stage.load.readiness() == 503 }
            return .when(isUnready, isUnready ? "It says no." : "It still says yes.")
        }
    }

    /// - Returns: when it was back, or when a person was asked to put it back.
    private func giveBack(_ sheet: DrillSheet) async throws -> Timestamp {
        var back = sheet.now()
        try await sheet.essential("Give the token back", expected: "It is there again.") {
            if let throwAway = stage.throwAway {
                try await Task.sleep(for: DrillStage.absence)
                try throwAway.plug()
            } else {
                stage.ask("Put the token back now.")
            }
            back = sheet.now()
            return .asExpected(stage.throwAway == nil ? "A person was asked to." : "It is, after some seconds.")
        }
        return back
    }

    private func recover(_ key: String, _ lost: Timestamp, _ given: Timestamp, _ sheet: DrillSheet) async throws {
        try await sheet.essential(
            "Wait until service is back", expected: "The gateway recovers by itself, with the same key."
        ) {
            guard let first = await stage.load.ledger.first(within: limit, where: { $0.isServed && $0.begun >= given })
            else { return .not("No request was served.") }
            let back = try await moment(key, given, sheet)
            if let back { sheet.time(.restoration, from: back, to: first.ended) }
            sheet.absence = Int((back ?? given).milliseconds - lost.milliseconds)
            sheet.time(.recovery, from: lost, to: first.ended)
            let isReady = try await stage.wait(DrillStage.eventLimit) { await stage.load.readiness() == 200 }
            sheet.rules.endOutage(sheet.now())
            let span =
                sheet.timings[.restoration].map { "\($0) ms after the token" }
                ?? "\(first.ended.milliseconds - given.milliseconds) ms after a person was asked for the token"
            return .when(
                isReady && first.keyID == key,
                "The first answer came \(span), signed with "
                    + "\(first.keyID ?? "no key"); /readyz says \(isReady ? "yes" : "no").")
        }
    }

    /// When the token was back. Of one that a person puts back, the audit log has the moment at which the gateway saw it.
    ///
    /// - Returns: nil where the log does not say it.
    private func moment(_ key: String, _ given: Timestamp, _ sheet: DrillSheet) async throws -> Timestamp? {
        guard stage.throwAway == nil else { return given }
        var back: Timestamp?
        let trail = AuditTrail(stage.admin)
        // The entry may be written after the first signature.
        _ = try await stage.wait(DrillStage.eventLimit) {
            back = try await trail.tokenBack(key, after: given)
            return back != nil
        }
        if back == nil {
            sheet.deviate(
                "The audit log does not say when the token was back, so that the restoration is not measured.")
        }
        return back
    }

    private func steady(_ key: String, _ sheet: DrillSheet) async {
        await sheet.step("See that it stays so", expected: "Further requests are served with \(key).") {
            let begin = sheet.now()
            let first = await stage.load.ledger.first(within: DrillStage.eventLimit) { $0.begun >= begin }
            return .when(first?.keyID == key, first.map { Self.text($0.outcome) + "." } ?? "No request was answered.")
        }
    }

    private static func text(_ outcome: LoadAnswer.Outcome) -> String {
        switch outcome {
        case .served(let keyID): "served with \(keyID)"
        case .failed(let reason): "refused with \(reason)"
        case .wronglySigned(let reason): reason
        }
    }
}
