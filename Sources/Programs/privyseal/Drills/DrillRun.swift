import AuditLog
import KeyDrills
import KeyLifecycle
import NIOHTTP1
import Signing
import SigningKit
import StrictJSON

/// Runs a scenario under load, and makes its record.
struct DrillRun {
    let environment: DrillEnvironment

    private var conditions: DrillConditions { environment.conditions }

    /// - Returns: the record, also of a failed drill.
    /// - Throws: `DrillError` if no step was tried. Its record would replace an earlier one that passed.
    ///   `CancellationError` if the task was cancelled.
    func perform() async throws -> DrillRecord {
        try await environment.load.refreshKeys()
        try await environment.checkNames()
        let before = await AuditTrail(environment.admin).head()
        let record = DrillRecord(
            conditions.scenario, isPlanned: conditions.isPlanned, participants: conditions.participants,
            gateway: .init(address: environment.target.address, isTemporary: environment.throwAway != nil),
            begun: ClockMonitor.systemTime())
        let log = DrillLog(record, clock: ClockMonitor.systemTime, progress: conditions.say)
        let load = Task { [environment] in await environment.load.run() }
        do {
            try await performScenario(log)
        } catch {
            guard log.record.steps.count > 1 else {
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
        try Task.checkCancellation()
        await complete(log, auditFrom: before?.size)
        return log.record
    }

    /// Performs the scenario step by step. The results are in the log.
    private func performScenario(_ log: DrillLog) async throws {
        switch conditions.scenario {
        case .scheduledRotation: try await ScheduledRotation(environment: environment).perform(log)
        case .compromise: try await Compromise(environment: environment).perform(log)
        case .tokenLoss: try await TokenLoss(environment: environment).perform(log)
        case .wrongKeyImported: try await WrongKeyImported(environment: environment).perform(log)
        case .operatorMistake: try await OperatorMistake(environment: environment).perform(log)
        case .restoreFromBackupToken: try await RestoreFromBackupToken(environment: environment).perform(log)
        }
    }

    /// The first step of each scenario only reads the keys.
    private func untried(_ log: DrillLog, _ error: any Error) -> DrillError {
        let reason = log.record.steps.last.flatMap { $0.verdict == .failed ? $0.actual : nil } ?? "\(error)"
        return DrillError("No step of the scenario was tried, so there is no record. \(reason)")
    }

    /// An error between two steps fails the drill, too.
    private func end(_ log: DrillLog, early error: any Error) async {
        if log.record.steps.last?.verdict == .failed {
            log.deviate("\(error)")
        } else {
            await log.step("Begin the next step", expected: "The next step can be done.") { .not("\(error)") }
        }
    }

    // MARK: Facts from the gateway

    private func complete(_ log: DrillLog, auditFrom first: Int?) async {
        let (begun, ended) = (log.record.begun, log.now())
        let answers = environment.load.answers
        let outages = ServiceOutages.find(in: answers, from: begun, to: ended)
        for keyID in environment.load.keys.changed.sorted() {
            log.deviate("The key set showed another key under \(keyID) than before.")
        }
        log.judgeSpans(outages)
        log.record.ended = ended
        log.record.load = LoadSummary(answers, rules: log.rules, from: begun, to: ended)
        if let status = await status() {
            log.record.gateway.version = status.version ?? "unknown"
            log.record.gateway.configuration = status.configuration
        }
        if let first, let head = await AuditTrail(environment.admin).head(), head.size > first {
            log.record.audit = .init(first: first, last: head.size - 1, checkpoint: head.note)
        }
        log.record.keys.states = await spans(begun, ended).flatMap { $0.split(at: outages) }
    }

    private struct Status: Decodable {
        let version, configuration: String?
    }

    private func status() async -> Status? {
        let text = try? await environment.admin.ask(.GET, "/v1/status", accept: "application/json")
        return text.flatMap { try? JSONDocument(parsing: Array($0.utf8)).root.decode(Status.self) }
    }

    /// The states of each key of the account during the drill, from its history.
    private func spans(_ begun: Timestamp, _ ended: Timestamp) async -> [KeyStateSpan] {
        guard let keys = try? await environment.account().keys else { return [] }
        return keys.flatMap { key in
            let changes = key.life.history
            return changes.indices.compactMap { index -> KeyStateSpan? in
                let end = index + 1 < changes.count ? changes[index + 1].time : ended
                let (from, to) = (max(changes[index].time, begun), min(end, ended))
                guard from < to else { return nil }
                return KeyStateSpan(keyID: key.life.keyID, state: changes[index].to.rawValue, begin: from, end: to)
            }
        }
    }
}
