import Glibc
import Logging
import Metrics
import PKCS11
public import SigningKit
import Synchronization

/// Keys on a PKCS #11 token: a connection to the token, its signing workers, and the two threads that supervise them.
/// The private key never enters this process. The caller must close the backend: its threads keep it alive until then.
///
/// The *maintenance thread* makes all calls except signatures: it opens, logs in, finds keys and recovers. The
/// *watchdog thread* makes no calls, so that it can detect a call that hangs.
public final class PKCS11TokenBackend: KeyBackend {
    public static let scheme = "pkcs11"
    public static var settings: [PluginSetting] { TokenSettings.declared }

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
        pool.backend = self
    }

    public static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        try TokenURI.address(of: uri)
    }

    /// The name of the module's file without `lib` and `.so`, such as `softhsm2`.
    public static func signerName(of locator: KeyLocator) -> String {
        (try? TokenURI(locator.uri))?.shortModuleName ?? scheme
    }

    public static var sharesSigner: Bool { false }

    public static func secretSources(of locator: KeyLocator) -> [String] {
        [(try? TokenURI(locator.uri))?.pinSource].compactMap(\.self)
    }

    public static func modulePath(of locator: KeyLocator) -> String? { (try? TokenURI(locator.uri))?.modulePath }

    public static func callTimeout(_ settings: PluginSettings) -> Duration { settings.seconds("operationTimeout") }

    /// Opens the module, finds the token, logs in once and opens the sessions, on a thread of the backend.
    ///
    /// - Throws: `notFound`, `ambiguous`, `secretUnavailable`, `loginRefused`, `unfit` or `unavailable`.
    public static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> PKCS11TokenBackend {
        let settings = TokenSettings(environment.settings)
        // Begin it before a thread starts: a hung dlopen(3) would block the start.
        let attempt = try OpenAttempt(locator, timeout: settings.timeout)
        // Read it in the opening task: the maintenance thread has no task-local values.
        let metrics = MetricsSystem.factory
        return try await Worker.performOnNewThread(
            "privyseal-maint", within: settings.timeout, onAbandoned: { $0.closeAll($0.pool.end()) }
        ) { maintenanceThread, watch throws(KeyError) in
            defer { withExtendedLifetime(attempt) {} }
            let connection = try TokenConnection(locator, settings, in: environment)
            let backend = PKCS11TokenBackend(
                connection, settings, maintenanceThread: maintenanceThread, watch: watch, metrics: metrics,
                record: environment.report)
            try backend.openWorkers()
            return backend
        }
    }

    public func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey {
        try await onMaintenanceThread { [self] () throws(KeyError) -> any SigningKey in
            defer { closeDiscarded() }
            return try connection.key(selector, for: pool)
        }
    }

    /// Runs `body` on the maintenance thread while the caller waits.
    func onMaintenanceThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        if isClosing.load(ordering: .relaxed) { throw .closed }
        return try await maintenanceThread.perform(within: settings.timeout, watchedBy: watch) {
            [self] () throws(KeyError) in
            watchMaintenanceThread()
            return try body()
        }
    }

    public func health() async -> KeyBackendHealth { pool.report.health }

    public func report() async -> KeyBackendReport {
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

    public func close() async {
        guard !isClosing.exchange(true, ordering: .relaxed) else { return await closed.wait() }
        await pool.drain()
        let sessions = pool.end()
        // Ignore a timeout: a token that hangs cannot be closed, and the process must still end.
        _ = try? await maintenanceThread.perform(within: settings.timeout, watchedBy: watch) {
            [self] () throws(KeyError) in closeAll(sessions)
        }
        maintenanceThread.end()
        watch.end()
        closed.happen()
    }

    /// Runs last, on the maintenance thread.
    func closeAll(_ sessions: [Session]) {
        recovery.withLock { $0.isOver = true }
        ModuleUsers.note(self, isHealthy: false, in: connection.module.path)
        connection.close(sessions)
        pool.backend = nil
    }
}

extension PKCS11TokenBackend: CustomStringConvertible, CustomReflectable {
    public var description: String { "PKCS11TokenBackend" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

struct TokenSettings: Sendable {
    /// Sessions that sign in parallel, each on its own thread; the token may allow fewer.
    let sessions: Int
    /// Signatures that may wait in the queue.
    let queueLimit: Int
    /// Limit for one call into the token, in milliseconds.
    let timeout: Int
    let allowsUnprotectedKeys: Bool
    /// `CK_USER_TYPE` of the login.
    let userType: Int

    init(_ settings: PluginSettings) {
        sessions = settings.integer("sessions")
        queueLimit = settings.integer("queueLimit")
        timeout = settings.integer("operationTimeout") * 1000
        allowsUnprotectedKeys = settings.boolean("allowUnprotectedKeys")
        userType = settings.integer("userType")
    }

    var user: Session.User { Session.User(rawValue: UInt(clamping: userType)) }

    static let declared: [PluginSetting] = [
        PluginSetting(
            "sessions", .integer(default: defaultSessions, allowed: 1...64),
            "sessions with each token that sign in parallel, each on its own thread",
            defaultInWords: "the number of cores, 2 to 16"),
        PluginSetting(
            "queueLimit", .integer(default: 512, allowed: 1...65_536),
            "signatures that may wait for a session; beyond this limit, the answer is busy"),
        PluginSetting(
            "operationTimeout", .seconds(default: 10, allowed: 1...600),
            "seconds that a call into the token may take before the token counts as unavailable for the caller"),
        PluginSetting(
            "allowUnprotectedKeys", .boolean(default: false),
            "`true` accepts keys that can be extracted from the token; for tests only"),
        PluginSetting(
            // CKU_SO is 0; it may not use private keys. CKU_CONTEXT_SPECIFIC is 2, for single operations.
            "userType", .integer(default: 1, allowed: 1...0xFFFF_FFFF, except: [2]),
            "the user that logs in (`CK_USER_TYPE`), but not 2: 1 is `CKU_USER`, 2147483649 the Crypto User of a Luna partition"
        ),
    ]

    /// A software token is fastest with one session per core; a hardware token reports its own limit.
    private static let defaultSessions = min(max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 2), 16)
}
