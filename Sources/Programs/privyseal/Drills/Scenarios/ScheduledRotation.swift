import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// A new key becomes active. The old key signs requests that name it until its retirement time.
struct ScheduledRotation {
    let environment: DrillEnvironment

    func perform(_ log: DrillLog) async throws {
        let old = try await environment.observe(log)
        let new = try environment.replacementKey()
        try await environment.prove(new, log)
        let changed = try await environment.activate(new, retiring: old, log)
        await overlap(old, log)
        await retirement(old, changed, log)
        await environment.refusesName(old, log, because: "its retire-at is over")
        await environment.auditAgrees(old, changed, log)
    }

    private func overlap(_ old: String, _ log: DrillLog) async {
        await log.step(
            "Ask for a signature of \(old) by name, during the overlap",
            expected: "It is signed with \(old), because some apps still name it."
        ) {
            let answer = await environment.probe(.named(keyID: old))
            return .when(answer.answer.keyID == old, Refusal.text(answer))
        }
    }

    private func retirement(_ old: String, _ changed: Timestamp, _ log: DrillLog) async {
        await log.step(
            "Wait for the retire-at of \(old)", expected: "It is retired \(environment.overlap) s after the change."
        ) {
            let limit = Duration.seconds(environment.overlap) + DrillEnvironment.eventLimit
            let isOver = try await environment.wait(limit) { try await environment.key(old).life.state == .retired }
            let record = try await environment.key(old).life
            guard isOver else { return .not("It is \(record.state.rawValue).") }
            let span = record.since.milliseconds - changed.milliseconds
            return .when(
                abs(span - Int64(environment.overlap) * 1000) <= 2000, "It was retired \(span) ms after the change.")
        }
    }
}
