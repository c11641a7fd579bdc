import KeyDrills
import KeyLifecycle
import NIOHTTP1
import Signing
import SigningKit
import StrictJSON

/// Runs a scenario under load, and makes its record. Only one task may use it.
struct DrillRun {
    let environment: DrillEnvironment
    let load: LoadDriver
    let log: DrillLog

    init(_ environment: DrillEnvironment) {
        self.environment = environment
        let conditions = environment.conditions
        load = LoadDriver(
            conditions.load, to: environment.target, bundleID: environment.bundleID, requests: [.token, .legacy],
            clock: Timestamp.now)
        let record = DrillRecord(
            conditions.scenario, isPlanned: conditions.isPlanned, participants: conditions.participants,
            gateway: .init(address: environment.target.address, isTemporary: environment.throwAway != nil),
            begun: Timestamp.now())
        log = DrillLog(record, clock: Timestamp.now, progress: conditions.say)
    }

    /// - Returns: the record, also of a failed drill.
    /// - Throws: `DrillError` if no step was tried. Its record would replace an earlier one that passed.
    ///   `CancellationError` if the task was cancelled, and the gateway is a temporary one, which ends with its keys.
    func perform() async throws -> DrillRecord {
        try await load.refreshKeys()
        try await checkNames()
        if let difference = await clockDifference() {
            throw DrillError("The drill was not begun. \(difference) Set both clocks right.")
        }
        let before = await environment.admin.auditHead()
        let begun = log.now()
        let running = Task { [load] in await load.run() }
        do {
            try await performScenario()
        } catch {
            let failed = log.record.steps.last.flatMap { $0.verdict == .failed ? $0.actual : nil }
            // The first step of each scenario only reads the keys.
            guard log.record.steps.count > 1 else {
                load.stop()
                await running.value
                throw DrillError(
                    "No step of the scenario was tried, so there is no record. \(failed ?? "\(error)")")
            }
            if failed != nil {
                log.deviate("\(error)")
            } else {
                // An error between two steps fails the drill, too.
                await log.step("Begin the next step", expected: "The next step can be done.") { .not("\(error)") }
            }
        }
        if load.isExhausted {
            log.deviate("The load ended before the drill did: give more requests with --requests.")
        }
        try? await Task.sleep(for: Self.baselineDuration)
        load.stop()
        await running.value
        if let difference = await clockDifference() {
            await log.step("Compare the clocks", expected: "The gateway's clock is that of the drill.") {
                .not("\(difference) Times of the two are mixed in this record, so it shows nothing.")
            }
        }
        if Task.isCancelled {
            guard environment.throwAway == nil else { throw CancellationError() }
            await log.step("Go on to the end", expected: "The drill ends by itself.") {
                .not("A signal stopped the drill. Its last step may have changed keys.")
            }
        }
        await complete(from: begun, auditFrom: before?.size)
        return log.record
    }

    /// Performs the scenario step by step. The results are in the log.
    private func performScenario() async throws {
        switch environment.conditions.scenario {
        case .scheduledRotation: try await scheduledRotation()
        case .compromise: try await compromise()
        case .tokenLoss: try await tokenLoss()
        case .failover: try await failover()
        case .wrongKeyImported: try await wrongKeyImported()
        case .operatorMistake: try await operatorMistake()
        case .restoreFromBackupToken: try await restoreFromBackupToken()
        }
    }

    /// Requests signatures with the scenario's keys by name before any change. Later, a refusal of a client that may
    /// not name a key would say nothing about the key.
    ///
    /// - Throws: `DrillError`, if the active key does not sign, or the staged key is refused for another reason than
    ///   its state.
    private func checkNames() async throws {
        // The client of a temporary gateway may name every key.
        guard environment.throwAway == nil else { return }
        func check(_ keyID: String, _ wanted: String, _ isFit: (LoadDriver.Probe) -> Bool) async throws {
            let answer = await load.probe(.named(keyID: keyID))
            guard !isFit(answer) else { return }
            throw DrillError(
                "The drill was not begun: a request that names the key \(keyID) had an unexpected result. "
                    + "\(Refusal.text(answer)) \(wanted) The drill's client needs a rule with keyIds for both keys, "
                    + "and the app both forms of promotional offers.")
        }
        let scenario = environment.conditions.scenario
        if scenario.namesActiveKey {
            let active = try await activeKey()
            try await check(active, "It has to be signed.") { $0.answer.keyID == active }
        }
        if scenario.needsReplacement {
            try await check(environment.replacement, "It has to be refused because that key is not in use.") {
                Refusal.of($0, as: "key-not-in-use").isAsExpected
            }
        }
    }

    /// A sentence if the gateway's clock is more than a second from that of this machine: a drill compares times of both.
    /// Nil, too, for a gateway that does not tell its time.
    private func clockDifference() async -> String? {
        let asked = log.now()
        guard let text = try? await environment.admin.ask(.GET, "/v1/status", accept: "application/json"),
            let status = try? JSONDocument(parsing: Array(text.utf8)).root.anyObject(),
            let time = try? status.decode("time") as Timestamp
        else { return nil }
        let (early, late) = (asked.milliseconds - time.milliseconds, time.milliseconds - log.now().milliseconds)
        let span = Double(max(early, late)) / 1000
        guard span > 1 else { return nil }
        return "The gateway's clock is \(span) s \(early > late ? "behind" : "ahead of") that of this machine."
    }

    // MARK: Facts from the gateway

    /// - Parameter begun: when the load began. The record began earlier, with the first look at the gateway.
    private func complete(from begun: Timestamp, auditFrom first: Int?) async {
        let ended = log.now()
        let outages = ServiceOutages.find(in: load.answers, from: begun, to: ended)
        for keyID in load.keys.changed.sorted() {
            log.deviate("The key set showed another key under \(keyID) than before.")
        }
        log.record.ended = ended
        log.record.load = LoadSummary(load.answers, rules: log.rules, from: begun, to: ended)
        // In a task of its own: the signal that stops a drill also cancels the requests of its task.
        let (answer, newest, overview) = await Task { [environment, client] in
            (
                try? await environment.admin.ask(.GET, "/v1/status", accept: "application/json"),
                await environment.admin.auditHead(), try? await client.overview()
            )
        }.value
        var isInFleet = false
        if let answer, let status = try? JSONDocument(parsing: Array(answer.utf8)).root.anyObject() {
            log.record.gateway.version = (try? status.decode("version")) ?? "unknown"
            log.record.gateway.configuration = try? status.decode("configuration")
            isInFleet = status["fleetLog"].map { $0.kind != .null } ?? false
        }
        log.judgeSpans(outages, isInFleet: isInFleet)
        if let first, let newest, newest.size > first {
            log.record.audit = .init(first: first, last: newest.size - 1, checkpoint: newest.note)
        }
        // The states of each key of the account during the drill, from its history.
        for key in overview?.accounts.first(where: { $0.issuerID == environment.issuerID })?.keys ?? [] {
            let changes = key.life.history
            for (change, end) in zip(changes, changes.dropFirst().map(\.time) + [ended]) {
                let (from, to) = (max(change.time, begun), min(end, ended))
                guard from < to else { continue }
                let span = KeyStateSpan(keyID: key.life.keyID, state: change.to.rawValue, begin: from, end: to)
                log.record.keys.states += span.split(at: outages)
            }
        }
    }
}
