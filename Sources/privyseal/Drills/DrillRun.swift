import Foundation
import KeyDrills
import NIOHTTP1
import SigningGateway
import SigningKit
import StrictJSON

/// Runs a scenario with load beside it, and writes down what came of it.
struct DrillRun {
    let conditions: DrillConditions
    let stage: DrillStage
    let target: LoadTarget

    private static let clock: @Sendable () -> Timestamp = GrantIssuer.systemTime

    /// - Returns: the record. A drill that failed has one, too.
    /// - Throws: `DrillError`, when nothing of the scenario was tried. Such a drill has no record: it would take the place
    ///   of an earlier one that passed.
    func perform() async throws -> DrillRecord {
        let sheet = DrillSheet(clock: Self.clock, progress: conditions.say)
        try await stage.load.refreshKeys()
        try await stage.checkNames(for: conditions.scenario)
        let before = await AuditTrail(stage.admin).head()
        let begun = Self.clock()
        let load = Task { [stage] in await stage.load.run() }
        do {
            try await stage.perform(conditions.scenario, sheet)
        } catch {
            guard sheet.steps.count > 1 else {
                stage.load.stop()
                await load.value
                throw untried(sheet, error)
            }
            await end(sheet, early: error)
        }
        if stage.load.isUsedUp {
            sheet.deviate("The load ended before the drill did: more requests are needed, by --requests.")
        }
        try? await Task.sleep(for: DrillStage.calm)
        stage.load.stop()
        await load.value
        let ended = Self.clock()
        return await record(sheet, begun, ended, auditFrom: before?.size)
    }

    /// The first step of each scenario only looks at the keys.
    private func untried(_ sheet: DrillSheet, _ error: any Error) -> DrillError {
        let reason = sheet.steps.last.flatMap { $0.verdict == .failed ? $0.actual : nil } ?? "\(error)"
        return DrillError("Nothing of the scenario was tried, so that there is no record. \(reason)")
    }

    /// What goes wrong between two steps fails the drill, too.
    private func end(_ sheet: DrillSheet, early error: any Error) async {
        if sheet.steps.last?.verdict == .failed {
            sheet.deviate("\(error)")
        } else {
            await sheet.step("Begin the next step", expected: "The next step can be done.") { .not("\(error)") }
        }
    }

    private func record(
        _ sheet: DrillSheet, _ begun: Timestamp, _ ended: Timestamp, auditFrom first: Int?
    ) async -> DrillRecord {
        for keyID in stage.load.keys.changed.sorted() {
            sheet.deviate("The key set showed another key under \(keyID) than before.")
        }
        let gateway = await self.gateway()
        let answers = stage.load.ledger.answers
        let load = LoadSummary(answers, rules: sheet.rules, from: begun, to: ended)
        let outages = ServiceOutages.find(in: answers, from: begun, to: ended)
        sheet.judgeSpans(outages)
        return DrillRecord(
            id: DrillID.of(conditions.scenario, begun: begun), scenario: conditions.scenario,
            isPlanned: conditions.isPlanned, participants: conditions.participants, gateway: gateway, begun: begun,
            ended: ended, steps: sheet.steps, timings: sheet.timings,
            load: load, proofs: sheet.proofs, audit: await audit(from: first), deviations: sheet.deviations,
            oldKey: sheet.oldKey,
            newKey: sheet.newKey,
            keySpans: DrillRecord.KeySpan.splitting(await spans(begun, ended), at: outages))
    }

    // MARK: What the gateway says

    private func gateway() async -> DrillRecord.Gateway {
        let text = try? await stage.admin.ask(.GET, "/v1/status", accept: "application/json")
        let object = try? text.map { try JSONDocument(parsing: Array($0.utf8)).root.anyObject() }
        let (version, configuration) = (try? object?["version"]?.string(), try? object?["configuration"]?.string())
        return DrillRecord.Gateway(
            version: version ?? "unknown", address: target.address, configuration: configuration,
            isThrowAway: stage.throwAway != nil)
    }

    private func audit(from first: Int?) async -> DrillRecord.AuditRange? {
        guard let first, let head = await AuditTrail(stage.admin).head(), head.size > first else { return nil }
        return DrillRecord.AuditRange(first: first, last: head.size - 1, checkpoint: head.note)
    }

    /// What each key of the account was while the drill ran, from its history.
    private func spans(_ begun: Timestamp, _ ended: Timestamp) async -> [DrillRecord.KeySpan] {
        guard let keys = try? await stage.account().keys else { return [] }
        return keys.flatMap { key in
            let changes = key.life.history
            return changes.indices.compactMap { index -> DrillRecord.KeySpan? in
                let end = index + 1 < changes.count ? changes[index + 1].time : ended
                let (from, to) = (max(changes[index].time, begun), min(end, ended))
                guard from < to else { return nil }
                return DrillRecord.KeySpan(
                    keyID: key.life.keyID, state: changes[index].to.rawValue, begin: from, end: to)
            }
        }
    }
}

extension DrillStage {
    func perform(_ scenario: DrillScenario, _ sheet: DrillSheet) async throws {
        try await scenario.perform(self, sheet)
    }
}
