import KeyDrills
import SigningGateway
import SigningKit

/// A new key takes over; the old one answers by name until its retire-at.
struct ScheduledRotation {
    let stage: DrillStage

    func perform(_ sheet: DrillSheet) async throws {
        let old = try await stage.observe(sheet)
        let new = try stage.replacementKey()
        try await stage.prove(new, sheet)
        let changed = try await stage.activate(new, retiring: old, sheet)
        await overlap(old, sheet)
        await retirement(old, changed, sheet)
        await stage.refusesName(old, sheet, because: "its retire-at is over")
        await stage.auditAgrees(old, changed, sheet)
    }

    private func overlap(_ old: String, _ sheet: DrillSheet) async {
        await sheet.step(
            "Ask for a signature of \(old) by name, during the overlap",
            expected: "It is signed with \(old), because apps that name it are still about."
        ) {
            let (answer, body) = await stage.load.probe(stage.request(.named(keyID: old)))
            guard answer.keyID == old else { return .not(DrillStage.text(answer, body)) }
            return .asExpected("It was signed with \(old).")
        }
    }

    private func retirement(_ old: String, _ changed: Timestamp, _ sheet: DrillSheet) async {
        await sheet.step(
            "Wait for the retire-at of \(old)", expected: "It is retired \(stage.overlap) s after the change."
        ) {
            let limit = Duration.seconds(stage.overlap) + DrillStage.eventLimit
            let isOver = try await stage.wait(limit) { try await stage.key(old).life.state == .retired }
            let record = try await stage.key(old).life
            guard isOver else { return .not("It is \(record.state.rawValue).") }
            let span = record.since.milliseconds - changed.milliseconds
            return .when(
                abs(span - Int64(stage.overlap) * 1000) <= 2000, "It was retired \(span) ms after the change.")
        }
    }
}
