internal import Logging
internal import Metrics
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// A token in service: its connection, its signing workers, and the two threads that supervise them.
///
/// The *maintenance thread* makes all calls except signatures: it opens, logs in, finds keys and recovers. The
/// *watchdog thread* makes no calls, so that it can detect a call that hangs.
final class ActiveToken: WorkerPoolObserver {
    let settings: TokenSettings
    let pool: WorkerPool
    let connection: TokenConnection
    let threads: Mutex<TokenThreads>
    let watch: Worker
    let log = Logger(label: "privyseal.pkcs11")
    let recovery = Mutex(TokenRecovery())
    private let record: @Sendable (KeyBackendEvent) -> Void
    private let isClosing = Atomic<Bool>(false)
    private let closed = AsyncEvent()

    private init(
        _ connection: TokenConnection, _ settings: TokenSettings, maintenanceThread: Worker, watch: Worker,
        metrics: any MetricsFactory, record: @escaping @Sendable (KeyBackendEvent) -> Void
    ) {
        self.record = record
        (self.connection, self.settings, self.watch) = (connection, settings, watch)
        threads = Mutex(TokenThreads(current: maintenanceThread))
        pool = WorkerPool(
            queueLimit: settings.queueLimit, stuckLimit: 2 * settings.sessions,
            metrics: TokenMetrics(token: connection.info.shortName, in: metrics))
        pool.events = self
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
        if isClosing.load(ordering: .relaxed) { throw .closed }
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
        guard !isClosing.exchange(true, ordering: .relaxed) else { return await closed.wait() }
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
        closed.happen()
    }

    /// Runs last, on the maintenance thread.
    func closeAll(_ sessions: [Session]) {
        let discarded = recovery.withLock { recovery in
            recovery.isOver = true
            return recovery.discarded
        }
        ModuleUsers.note(self, isHealthy: false, in: connection.module.path)
        connection.close(sessions + discarded + connection.takeFormerAnchors(), within: 1000)
        pool.events = nil
    }

    private static func late(_ settings: TokenSettings) -> KeyError {
        .unavailable("The token did not answer within \(settings.timeout / 1000) s.")
    }
}
