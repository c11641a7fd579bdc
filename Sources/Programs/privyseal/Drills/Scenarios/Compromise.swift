import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// The active key is declared compromised, and another key is activated.
struct Compromise {
    let environment: DrillEnvironment

    func perform(_ log: DrillLog) async throws {
        let old = try await environment.observe(log)
        let new = try environment.replacementKey()
        let begun = log.now()
        try await stop(old, begun, log)
        await nextRequest(old, log)
        await environment.refusesName(old, log, because: "it is compromised")
        try await environment.prove(new, log)
        try await environment.activate(new, retiring: nil, log)
        await recovery(new, begun, log)
        await environment.refusesName(old, log, because: "it stays compromised")
        await environment.auditAgrees(old, log.rules.bans[old] ?? begun, log, form: nil)
    }

    private func stop(_ old: String, _ begun: Timestamp, _ log: DrillLog) async throws {
        try await log.essential(
            "Declare \(old) compromised", expected: "The gateway stops it at once, and says so."
        ) {
            log.rules.beginOutage(begun)
            let records = try await environment.change(KeyChangeOrder(.compromise, old, reason: "Drill"))
            let done = log.now()
            log.rules.ban(old, from: done)
            let span = log.time(\.stop, from: begun, to: done)
            let state = records.first { $0.keyID == old }?.state
            return .when(
                state == .compromised,
                "After \(span) ms it is \(state?.rawValue ?? "unknown").")
        }
    }

    /// Both forms, because separate code signs each.
    private func nextRequest(_ old: String, _ log: DrillLog) async {
        for (form, name) in [(LoadRequest.Form.token, "a JWS"), (.legacy, "a signature in the legacy form")] {
            await log.step(
                "Ask for \(name) right after that", expected: "The next request already is refused."
            ) {
                let answer = await environment.probe(form)
                let finding = Refusal.of(answer, as: .noKeyInUse)
                if finding.isAsExpected, log.record.timings.detection == nil, let stop = log.rules.bans[old] {
                    log.time(\.detection, from: stop, to: answer.answer.ended)
                }
                return finding
            }
        }
    }

    private func recovery(_ new: String, _ begun: Timestamp, _ log: DrillLog) async {
        await log.step(
            "See that service is back", expected: "Requests are served with \(new), and /readyz says yes."
        ) {
            guard let first = await environment.answer(where: { $0.keyID == new && $0.begun >= begun }) else {
                return .not("No request is served.")
            }
            log.rules.endOutage(first.ended)
            let span = log.time(\.recovery, from: begun, to: first.ended)
            let isReady = try await environment.waitForReadiness(200)
            return .when(
                isReady,
                "The first answer came \(span) ms after the order to stop; /readyz says "
                    + "\(isReady ? "yes" : "no").")
        }
    }
}
