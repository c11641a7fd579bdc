internal import Logging
internal import Metrics
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// A token in service: its connection, its signing workers, and the two threads that supervise them.
///
/// The *maintenance thread* makes all calls except signatures: it opens, logs in, finds keys and recovers. The
/// *watchdog thread* makes no calls, so that it can detect a call that hangs.
final class ActiveToken: Sendable {
    let settings: TokenSettings
    let pool: WorkerPool
    let connection: TokenConnection
    let threads: Mutex<TokenThreads>
    let watch: Worker
    let log = Logger(label: "privyseal.pkcs11")
    let recovery = Mutex(TokenRecovery())
    private let record: @Sendable (KeyBackendEvent) -> Void
    private let closing = Mutex(Closing())
    private let hooks: Hooks

    private struct Closing {
        var isBegun = false
        var isDone = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Forwards the pool's events to the token, which is created after the pool.
    final class Hooks: WorkerPoolObserver {
        private let token = Mutex<ActiveToken?>(nil)

        func attach(_ token: ActiveToken?) { self.token.withLock { $0 = token } }
        func watch() { token.withLock { $0 }?.watchCalls() }
        func workerLost(because reason: String, hadSigned: Bool) {
            token.withLock { $0 }?.workerLost(because: reason, hadSigned: hadSigned)
        }
        func keyLost(_ name: String) { token.withLock { $0 }?.keyLost(name) }
        func keyFailing(_ name: String, because reason: String) {
            token.withLock { $0 }?.keyFailing(name, because: reason)
        }
        func seek(_ key: TokenKey) { token.withLock { $0 }?.seek(key) }
        func probe(_ signer: Signer, except key: TokenKey) -> SessionProbe {
            token.withLock { $0 }?.connection.probe(signer, except: key) ?? .noOtherKey
        }
        func discard(_ session: Session) { token.withLock { $0 }?.discard(session) }
    }

    private init(
        _ connection: TokenConnection, _ settings: TokenSettings, maintenanceThread: Worker, watch: Worker,
        metrics: any MetricsFactory, record: @escaping @Sendable (KeyBackendEvent) -> Void
    ) {
        self.record = record
        (self.connection, self.settings, self.watch) = (connection, settings, watch)
        threads = Mutex(TokenThreads(current: maintenanceThread))
        hooks = Hooks()
        pool = WorkerPool(
            queueLimit: settings.queueLimit, stuckLimit: 2 * settings.sessions, events: hooks,
            metrics: TokenMetrics(token: connection.info.shortName, in: metrics))
        hooks.attach(self)
    }

    static func open(_ locator: KeyLocator, in environment: KeyBackendEnvironment) async throws(KeyError) -> ActiveToken
    {
        let settings = TokenSettings(environment.settings)
        let openAttempt = try OpenAttempts.begin(locator, timeout: settings.timeout)
        let (maintenanceThread, watch) = (Worker(), Worker())
        // Read it in the opening task: the maintenance thread has no task-local values.
        let metrics = MetricsSystem.factory
        guard maintenanceThread.start("privyseal-maint"), watch.start("privyseal-watch") else {
            OpenAttempts.end(openAttempt)
            maintenanceThread.end()
            throw .unavailable("The system has no thread left for a token.")
        }
        do throws(KeyError) {
            return try await maintenanceThread.perform(
                within: settings.timeout, watchedBy: watch, late: late(settings),
                onAbandoned: { $0.closeAll($0.pool.end()) },
                { () throws(KeyError) in
                    defer { OpenAttempts.end(openAttempt) }
                    let connection = try TokenConnection(
                        locator, secrets: environment.secrets, settings, reopenOrderedAt: environment.reopenOrderedAt)
                    let token = ActiveToken(
                        connection, settings, maintenanceThread: maintenanceThread, watch: watch, metrics: metrics,
                        record: environment.report)
                    try token.openWorkers()
                    return token
                })
        } catch {
            maintenanceThread.end()
            watch.end()
            throw error
        }
    }

    func key(_ selector: KeySelector) async throws(KeyError) -> TokenKey {
        try await onMaintenanceThread { [self] () throws(KeyError) in
            defer { closeDiscarded() }
            return try connection.key(selector, for: pool)
        }
    }

    /// Runs `body` on the maintenance thread while the caller waits.
    func onMaintenanceThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        if closing.withLock({ $0.isBegun }) { throw .closed }
        return try await maintenanceThread.perform(
            within: settings.timeout, watchedBy: watch, late: Self.late(settings)
        ) {
            [self] () throws(KeyError) in
            watchMaintenanceThread()
            return try body()
        }
    }

    var report: KeyBackendReport {
        let (health, figures) = pool.report
        let info = connection.info
        let token = KeyBackendReport.Token(
            label: info.label, manufacturer: info.manufacturer, model: info.model, serial: info.serial,
            firmware: info.firmware)
        return KeyBackendReport(health: health, name: info.shortName, token: token, pool: figures)
    }

    /// Passes an event to `KeyBackendEnvironment.report`.
    func record(_ kind: KeyBackendEvent.Kind, because reason: String? = nil) {
        let info = connection.info
        record(KeyBackendEvent(kind, label: info.label, serial: info.serial, reason: reason))
    }

    func close() async {
        let isFirst = closing.withLock { closing in
            defer { closing.isBegun = true }
            return !closing.isBegun
        }
        guard isFirst else { return await waitUntilClosed() }
        await pool.drain()
        let sessions = pool.end()
        // Ignore a timeout: a token that hangs cannot be closed, and the process must still end.
        _ = try? await maintenanceThread.perform(within: settings.timeout, watchedBy: watch, late: Self.late(settings))
        {
            [self] () throws(KeyError) in
            closeAll(sessions)
        }
        maintenanceThread.end()
        watch.end()
        for waiter in closing.withLock({ closing in
            closing.isDone = true
            defer { closing.waiting = [] }
            return closing.waiting
        }) { waiter.resume() }
    }

    /// Runs last, on the maintenance thread.
    func closeAll(_ sessions: [Session]) {
        let discarded = recovery.withLock { recovery in
            recovery.isOver = true
            return recovery.discarded
        }
        ModuleUsers.note(self, isHealthy: false, in: connection.module.path)
        connection.close(sessions + discarded + connection.takeFormerAnchors(), within: 1000)
        hooks.attach(nil)
    }

    private func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isDone = closing.withLock { closing in
                if !closing.isDone { closing.waiting.append(continuation) }
                return closing.isDone
            }
            if isDone { continuation.resume() }
        }
    }

    private static func late(_ settings: TokenSettings) -> KeyError {
        .unavailable("The token did not answer within \(settings.timeout / 1000) s.")
    }
}
