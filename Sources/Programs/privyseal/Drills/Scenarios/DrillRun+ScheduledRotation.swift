import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

extension DrillRun {
    /// A new key becomes active. The old key signs requests that name it until its retirement time.
    func scheduledRotation() async throws {
        let old = try await observe()
        let new = environment.replacement
        try await prove(new)
        let changed = try await activate(new, retiring: old)
        await log.step(
            "Ask for a signature of \(old) by name, during the overlap",
            expected: "It is signed with \(old), because some apps still name it."
        ) {
            let probe = await load.probe(.named(keyID: old))
            return .when(probe.answer.keyID == old, Refusal.text(probe))
        }
        await log.step(
            "Wait for the retire-at of \(old)", expected: "It is retired \(overlap) s after the change."
        ) {
            let limit = Duration.seconds(overlap) + Self.eventLimit
            let isOver = try await wait(limit) { try await key(old).life.state == .retired }
            let record = try await key(old).life
            guard isOver else { return .not("It is \(record.state.rawValue).") }
            let span = record.since.milliseconds - changed.milliseconds
            return .when(abs(span - Int64(overlap) * 1000) <= 2000, "It was retired \(span) ms after the change.")
        }
        await refusesName(old, because: "its retire-at is over")
        await auditAgrees(old, changed)
    }
}
