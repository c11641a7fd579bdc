import AuditKit
import AuditLog
import Foundation
import GatewayConfiguration
import GatewayHTTP
import Logging
import Metrics
import ServiceLifecycle
import Signing
import SigningKit
import Synchronization
import UnixSignals
import WorkloadIdentities

/// Reloads the configuration while the gateway serves. Everything new is read, checked and opened before it replaces
/// the old; an error changes nothing. Reloads by SIGHUP and by the admin listener run one after the other.
final class Reloader: Service {
    private struct Order: Sendable {
        let isTrial: Bool
        /// The client's name, or `SIGHUP`.
        let actor: String
        let answer: CheckedContinuation<ReloadOutcome, Never>
    }

    private struct State {
        var configuration: GatewayConfiguration
        /// The keys of a refused configuration: a PIN that failed is not tried again.
        var rejected: KeyRing?
        var last: ProcessEvent?
    }

    private let path: String
    private let gateway: SnapshotHolder
    private let monitor: KeyRingMonitor
    private let registry: ConnectionRegistry
    private let listeners: Listeners
    private let state: Mutex<State>
    private let orders: AsyncStream<Order>
    private let order: AsyncStream<Order>.Continuation
    private let manager: ServiceNotifications
    private let logins: (any LoginHistory)?
    private let logger = Logger(label: "privyseal.reload")

    init(
        path: String, _ configuration: GatewayConfiguration, gateway: SnapshotHolder, monitor: KeyRingMonitor,
        registry: ConnectionRegistry, listeners: Listeners, manager: ServiceNotifications,
        logins: (any LoginHistory)?
    ) {
        self.logins = logins
        self.path = path
        self.gateway = gateway
        self.monitor = monitor
        self.registry = registry
        self.listeners = listeners
        self.manager = manager
        state = Mutex(State(configuration: configuration))
        (orders, order) = AsyncStream.makeStream()
    }

    var last: ProcessEvent? { state.withLock { $0.last } }

    func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup { group in
                group.addTask { await self.obeySignals() }
                for await order in self.orders {
                    order.answer.resume(returning: await self.perform(order))
                }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.order.finish()
        }
    }

    /// Waits for earlier reloads.
    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome {
        await withCheckedContinuation { answer in
            guard case .enqueued = order.yield(Order(isTrial: isTrial, actor: actor, answer: answer)) else {
                answer.resume(returning: .refused("The gateway is being stopped."))
                return
            }
        }
    }

    private func obeySignals() async {
        // The group's cancellation ends the loop. `cancelOnGracefulShutdown()` may deadlock when another service ends.
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            _ = await reload(isTrial: false, by: "SIGHUP")
        }
    }

    // MARK: One reload

    private func perform(_ order: Order) async -> ReloadOutcome {
        let isTrial = order.isTrial
        if !isTrial { manager.reloading() }
        defer { if !isTrial { manager.ready() } }
        let outcome: ReloadOutcome
        let known = state.withLock { $0.configuration }
        var digest: [UInt8]?
        do throws(Refusal) {
            let configuration = try read(comparedWith: known)
            digest = configuration.digest
            let changes = configuration.changes(from: known).map(\.description)
            let renewals = try renewals(configuration)
            // A trial does not log in, because the token counts wrong PINs.
            outcome = isTrial ? .wouldApply(changes) : try await apply(configuration, changes, renewals)
        } catch {
            outcome = .refused(error.sentence)
            digest = digest ?? error.digest
        }
        if !isTrial { report(outcome, digest, since: known, by: order.actor) }
        return outcome
    }

    private struct Refusal: Error {
        let sentence: String
        /// Of the refused file.
        var digest: [UInt8]?
    }

    private func read(comparedWith known: GatewayConfiguration) throws(Refusal) -> GatewayConfiguration {
        let configuration: GatewayConfiguration
        do throws(ConfigurationError) { configuration = try ConfigurationOption.read(path, mayBePipe: false) } catch {
            throw Refusal(sentence: error.description, digest: error.digest)
        }
        do throws(ConfigurationError) { try configuration.requireServable() } catch {
            throw Refusal(sentence: error.description, digest: configuration.digest)
        }
        let fixed = configuration.changes(from: known).filter(\.needsRestart)
        guard fixed.isEmpty else {
            let list = fixed.map(\.description).joined(separator: "\n")
            throw Refusal(
                sentence: "These can only be changed by a restart:\n\(list)", digest: configuration.digest)
        }
        return configuration
    }

    private func apply(
        _ configuration: GatewayConfiguration, _ changes: [String], _ renewals: [Renewal]
    ) async throws(Refusal) -> ReloadOutcome {
        let rejected = state.withLock { $0.rejected }
        let predecessor = gateway.current
        let successor = ConfigurationSnapshot(
            configuration, inheriting: predecessor, rejected: rejected, audit: predecessor.audit,
            logins: logins)
        try await open(successor.ring)
        gateway.replace(with: successor)
        successor.issuers.prepare()
        for (name, renewal) in renewals { renewal.commit(name, registry) }
        registry.bounds = configuration.limits
        LogSetup.set(configuration.logging.level)
        monitor.invalidate()
        state.withLock { state in
            state.configuration = configuration
            state.rejected = nil
        }
        for warning in configuration.warnings { logger.warning("\(warning)") }
        return changes.isEmpty ? .unchanged : .applied(changes)
    }

    /// Old keys may be down. New keys must sign, and so must a key that becomes active.
    private func open(_ ring: KeyRing) async throws(Refusal) {
        await ring.openMissing()
        await ring.prove(where: \.mustSign)
        let faults = ring.handles.filter { $0.mustSign && !$0.state.canSign }
        guard !faults.isEmpty else { return }
        state.withLock { $0.rejected = ring }
        await gateway.reject(ring)
        let list = faults.map { "\($0.settings.origin): \($0.state.reason ?? $0.state.name)" }
        throw Refusal(sentence: list.joined(separator: "\n"))
    }

    private typealias Renewal = (name: ListenerName, renewal: TLSIdentity.Renewal)

    private func renewals(_ configuration: GatewayConfiguration) throws(Refusal) -> [Renewal] {
        var renewals: [Renewal] = []
        for (name, identity) in listeners.identities {
            guard let tls = configuration.listeners.first(where: { $0.role == name })?.tls else { continue }
            do { renewals.append((name, try identity.renewal(tls))) } catch {
                throw Refusal(sentence: "\(tls.origin): \(error)")
            }
        }
        return renewals
    }

    /// Tells the log, the metrics, the status and the audit log.
    private func report(
        _ outcome: ReloadOutcome, _ digest: [UInt8]?, since known: GatewayConfiguration, by actor: String
    ) {
        var (result, changed) = (ReloadResult.unchanged, [String]())
        let (level, message): (Logger.Level, String)
        switch outcome {
        case .applied(let changes), .wouldApply(let changes):
            (result, changed) = (.applied, changes)
            (level, message) = (.notice, "The configuration was reloaded. " + changes.joined(separator: " "))
        case .unchanged:
            (level, message) = (.info, "The configuration was reloaded, and is unchanged.")
        case .refused(let sentence):
            result = .refused
            (level, message) = (.error, "The configuration was not reloaded, and nothing has changed. \(sentence)")
        }
        let name = result.rawValue
        logger.log(level: level, "\(message)")
        Counter(label: "privyseal_reloads_total", dimensions: [("outcome", name)]).increment()
        if level < .error {
            Gauge(label: "privyseal_last_reload_timestamp_seconds").record(Date.now.timeIntervalSince1970)
        }
        let event = ProcessEvent(time: Timestamp.now().text, level: name, message: message)
        let configuration = state.withLock { state in
            state.last = event
            return state.configuration
        }
        guard let audit = gateway.audit else { return }
        for change in configuration.clientChanges(from: known) {
            audit.note(.client(name: change.name, change: change.kind.rawValue, actor: actor))
        }
        audit.note(.reload(outcome: result, configuration: digest, changes: changed, actor: actor))
    }
}
