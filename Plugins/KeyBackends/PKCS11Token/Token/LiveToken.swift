internal import Logging
internal import Metrics
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// A token that serves: its connection, its lanes, and the two threads that look after them.
///
/// The *keeper* makes all calls that do not sign: it opens, logs in, finds and mends. The *watch* makes none, so that
/// it can tell when one hangs.
final class LiveToken: Sendable {
    let settings: TokenSettings
    let pool: LanePool
    let connection: TokenConnection
    /// The one that is at work now.
    let keepers: Mutex<Keepers>
    let watch: Worker
    let log = Logger(label: "privyseal.pkcs11")
    let mending = Mutex(Mending())
    private let record: @Sendable (KeyPlaceEvent) -> Void
    private let closing = Mutex(Closing())
    private let hooks: Hooks

    private struct Closing {
        var isBegun = false
        var isDone = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The pool is made before the token that it reports to.
    final class Hooks: LanePoolEvents {
        private let token = Mutex<LiveToken?>(nil)

        func attach(_ token: LiveToken?) { self.token.withLock { $0 = token } }
        func watch() { token.withLock { $0 }?.watchCalls() }
        func laneLost(because reason: String, hadSigned: Bool) {
            token.withLock { $0 }?.laneLost(because: reason, hadSigned: hadSigned)
        }
        func keyLost(_ name: String) { token.withLock { $0 }?.keyLost(name) }
        func keyIll(_ name: String, because reason: String) {
            token.withLock { $0 }?.keyIll(name, because: reason)
        }
        func seek(_ key: TokenKey) { token.withLock { $0 }?.seek(key) }
        func probe(_ signer: Signer, except key: TokenKey) -> SessionProbe {
            token.withLock { $0 }?.connection.probe(signer, except: key) ?? .noOtherKey
        }
        func discard(_ session: Session) { token.withLock { $0 }?.discard(session) }
    }

    private init(
        _ connection: TokenConnection, _ settings: TokenSettings, keeper: Worker, watch: Worker,
        metrics: any MetricsFactory, record: @escaping @Sendable (KeyPlaceEvent) -> Void
    ) {
        self.record = record
        (self.connection, self.settings, self.watch) = (connection, settings, watch)
        keepers = Mutex(Keepers(current: keeper))
        hooks = Hooks()
        pool = LanePool(
            queueLimit: settings.queueLimit, stuckLimit: 2 * settings.sessions, events: hooks,
            metrics: TokenMetrics(token: connection.info.shortName, in: metrics))
        hooks.attach(self)
    }

    /// Everything that blocks runs on the keeper.
    static func open(_ locator: KeyLocator, in environment: KeyBackendEnvironment) async throws(KeyError) -> LiveToken {
        let settings = TokenSettings(environment.settings)
        let opening = try Openings.begin(locator, timeout: settings.timeout)
        let (keeper, watch) = (Worker(), Worker())
        // That of the task which opens; the keeper has none.
        let metrics = MetricsSystem.factory
        guard keeper.start("privyseal-keep"), watch.start("privyseal-watch") else {
            Openings.end(opening)
            keeper.end()
            throw .unavailable("The system has no thread left for a token.")
        }
        do throws(KeyError) {
            return try await keeper.perform(
                within: settings.timeout, watchedBy: watch, late: late(settings),
                forsaken: { $0.giveBack($0.pool.end()) },
                { () throws(KeyError) in
                    defer { Openings.end(opening) }
                    let connection = try TokenConnection(
                        locator, secrets: environment.secrets, settings, orderedAt: environment.orderedAt)
                    let token = LiveToken(
                        connection, settings, keeper: keeper, watch: watch, metrics: metrics,
                        record: environment.report)
                    try token.openLanes()
                    return token
                })
        } catch {
            keeper.end()
            watch.end()
            throw error
        }
    }

    func key(_ selector: KeySelector) async throws(KeyError) -> TokenKey {
        try await onKeeper { [self] () throws(KeyError) in
            defer { closeDiscarded() }
            return try connection.key(selector, for: pool)
        }
    }

    /// What somebody waits for.
    func onKeeper<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        if closing.withLock({ $0.isBegun }) { throw .closed }
        return try await keeper.perform(within: settings.timeout, watchedBy: watch, late: Self.late(settings)) {
            [self] () throws(KeyError) in
            watchKeeper()
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

    /// For whoever keeps a record of what happens to the token.
    func record(_ kind: KeyPlaceEvent.Kind, because reason: String? = nil) {
        let info = connection.info
        record(KeyPlaceEvent(kind, label: info.label, serial: info.serial, reason: reason))
    }

    func close() async {
        let isFirst = closing.withLock { closing in
            defer { closing.isBegun = true }
            return !closing.isBegun
        }
        guard isFirst else { return await waitUntilClosed() }
        await pool.drain()
        let sessions = pool.end()
        // A token that hangs cannot be closed; the process can still end.
        _ = try? await keeper.perform(within: settings.timeout, watchedBy: watch, late: Self.late(settings)) {
            [self] () throws(KeyError) in
            giveBack(sessions)
        }
        keeper.end()
        watch.end()
        for waiter in closing.withLock({ closing in
            closing.isDone = true
            defer { closing.waiting = [] }
            return closing.waiting
        }) { waiter.resume() }
    }

    /// On the keeper, at the end.
    func giveBack(_ sessions: [Session]) {
        let discarded = mending.withLock { mending in
            mending.isOver = true
            return mending.discarded
        }
        ModuleNeighbours.note(self, isHealthy: false, in: connection.module.path)
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
