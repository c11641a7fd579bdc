import AuditLog
import Foundation
import KeyDrills
import KeyLifecycle
import NIOHTTP1
import Signing
import SigningKit
import StrictJSON

/// Runs a scenario under load, and writes its record.
struct DrillRun {
    let conditions: DrillConditions
    let environment: DrillEnvironment
    let target: LoadTarget

    private static let clock: @Sendable () -> Timestamp = ClockMonitor.systemTime

    /// - Returns: the record, also of a failed drill.
    /// - Throws: `DrillError` if no step was tried. Its record would replace an earlier one that passed.
    func perform() async throws -> DrillRecord {
        let log = DrillLog(clock: Self.clock, progress: conditions.say)
        try await environment.load.refreshKeys()
        try await environment.checkNames(for: conditions.scenario)
        let before = await AuditTrail(environment.admin).head()
        let begun = Self.clock()
        let load = Task { [environment] in await environment.load.run() }
        do {
            try await conditions.scenario.perform(environment, log)
        } catch {
            guard log.steps.count > 1 else {
                environment.load.stop()
                await load.value
                throw untried(log, error)
            }
            await end(log, early: error)
        }
        if environment.load.isExhausted {
            log.deviate("The load ended before the drill did: give more requests with --requests.")
        }
        try? await Task.sleep(for: DrillEnvironment.baselineDuration)
        environment.load.stop()
        await load.value
        let ended = Self.clock()
        return await record(log, begun, ended, auditFrom: before?.size)
    }

    /// The first step of each scenario only reads the keys.
    private func untried(_ log: DrillLog, _ error: any Error) -> DrillError {
        let reason = log.steps.last.flatMap { $0.verdict == .failed ? $0.actual : nil } ?? "\(error)"
        return DrillError("No step of the scenario was tried, so there is no record. \(reason)")
    }

    /// An error between two steps fails the drill, too.
    private func end(_ log: DrillLog, early error: any Error) async {
        if log.steps.last?.verdict == .failed {
            log.deviate("\(error)")
        } else {
            await log.step("Begin the next step", expected: "The next step can be done.") { .not("\(error)") }
        }
    }

    private func record(
        _ log: DrillLog, _ begun: Timestamp, _ ended: Timestamp, auditFrom first: Int?
    ) async -> DrillRecord {
        for keyID in environment.load.keys.changed.sorted() {
            log.deviate("The key set showed another key under \(keyID) than before.")
        }
        let gateway = await self.gateway()
        let answers = environment.load.results.answers
        let load = LoadSummary(answers, rules: log.rules, from: begun, to: ended)
        let outages = ServiceOutages.find(in: answers, from: begun, to: ended)
        log.judgeSpans(outages)
        return DrillRecord(
            id: DrillID.of(conditions.scenario, begun: begun), scenario: conditions.scenario,
            isPlanned: conditions.isPlanned, participants: conditions.participants, gateway: gateway, begun: begun,
            ended: ended, steps: log.steps, timings: log.timings,
            load: load, proofs: log.proofs, audit: await audit(from: first), deviations: log.deviations,
            oldKey: log.oldKey,
            newKey: log.newKey,
            keySpans: DrillRecord.KeyStateSpan.splitting(await spans(begun, ended), at: outages))
    }

    // MARK: Facts from the gateway

    private func gateway() async -> DrillRecord.Gateway {
        let text = try? await environment.admin.ask(.GET, "/v1/status", accept: "application/json")
        let status = try? text.map { try JSONDocument(parsing: Array($0.utf8)).root.decode(Status.self) }
        return DrillRecord.Gateway(
            version: status?.version ?? "unknown", address: target.address, configuration: status?.configuration,
            isTemporary: environment.throwAway != nil)
    }

    private struct Status: Decodable {
        let version, configuration: String?
    }

    private func audit(from first: Int?) async -> DrillRecord.AuditRange? {
        guard let first, let head = await AuditTrail(environment.admin).head(), head.size > first else { return nil }
        return DrillRecord.AuditRange(first: first, last: head.size - 1, checkpoint: head.note)
    }

    /// The states of each key of the account during the drill, from its history.
    private func spans(_ begun: Timestamp, _ ended: Timestamp) async -> [DrillRecord.KeyStateSpan] {
        guard let keys = try? await environment.account().keys else { return [] }
        return keys.flatMap { key in
            let changes = key.life.history
            return changes.indices.compactMap { index -> DrillRecord.KeyStateSpan? in
                let end = index + 1 < changes.count ? changes[index + 1].time : ended
                let (from, to) = (max(changes[index].time, begun), min(end, ended))
                guard from < to else { return nil }
                return DrillRecord.KeyStateSpan(
                    keyID: key.life.keyID, state: changes[index].to.rawValue, begin: from, end: to)
            }
        }
    }
}
