import KeyDrills
import SigningGateway
import SigningKit

/// The active key may be in other hands: it is stopped, and another one takes its place.
struct Compromise {
    let stage: DrillStage

    func perform(_ sheet: DrillSheet) async throws {
        let old = try await stage.observe(sheet)
        let new = try stage.replacementKey()
        let begun = sheet.now()
        try await stop(old, begun, sheet)
        await nextRequest(sheet)
        await stage.refusesName(old, sheet, because: "it is compromised")
        try await stage.prove(new, sheet)
        try await stage.activate(new, retiring: nil, sheet)
        await recovery(new, begun, sheet)
        await stage.refusesName(old, sheet, because: "it stays compromised")
        await stage.auditAgrees(old, sheet.rules.bans.first?.start ?? begun, sheet, form: nil)
    }

    private func stop(_ old: String, _ begun: Timestamp, _ sheet: DrillSheet) async throws {
        try await sheet.essential(
            "Declare \(old) compromised", expected: "The gateway stops it at once, and says so."
        ) {
            sheet.rules.beginOutage(begun)
            let records = try await stage.change(KeyChangeOrder(.compromise, old, reason: "Drill"))
            let done = sheet.now()
            sheet.rules.ban(old, from: done)
            sheet.time(.stop, from: begun, to: done)
            let state = records.first { $0.keyID == old }?.state
            return .when(
                state == .compromised,
                "After \(done.milliseconds - begun.milliseconds) ms it is \(state?.rawValue ?? "unknown").")
        }
    }

    /// In both forms: the gateway makes each in a way of its own.
    private func nextRequest(_ sheet: DrillSheet) async {
        for (form, name) in [(LoadRequest.Form.token, "a JWS"), (.legacy, "a signature in the legacy form")] {
            await sheet.step(
                "Ask for \(name) right after that", expected: "The next request already is refused."
            ) {
                let (answer, body) = await stage.load.probe(stage.request(form))
                let finding = DrillStage.refusal(answer, body, as: .noKeyInUse)
                if finding.isAsExpected, sheet.timings[.detection] == nil, let stop = sheet.rules.bans.first {
                    sheet.time(.detection, from: stop.start, to: answer.ended)
                }
                return finding
            }
        }
    }

    private func recovery(_ new: String, _ begun: Timestamp, _ sheet: DrillSheet) async {
        await sheet.step(
            "See that service is back", expected: "Requests are served with \(new), and /readyz says yes."
        ) {
            let first = await stage.load.ledger.first(within: DrillStage.eventLimit) {
                $0.keyID == new && $0.begun >= begun
            }
            guard let first else { return .not("No request is served.") }
            sheet.rules.endOutage(first.ended)
            sheet.time(.recovery, from: begun, to: first.ended)
            let isReady = try await stage.wait(DrillStage.eventLimit) { await stage.load.readiness() == 200 }
            return .when(
                isReady,
                "The first answer came \(sheet.timings[.recovery] ?? 0) ms after the order to stop; /readyz says "
                    + "\(isReady ? "yes" : "no").")
        }
    }
}
