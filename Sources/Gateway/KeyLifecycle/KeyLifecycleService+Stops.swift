import Logging
import Signing
import SigningKit
import Synchronization

extension KeyLifecycleService {
    /// Stops the key before the order is recorded: it signs nothing from now on, even if the write fails. The gateway
    /// then retries the write, and an administrator may repeat the order.
    func stop(_ order: KeyChangeOrder, by actor: String) async throws(KeyLifecycleRefusal) -> KeyChangeAnswer {
        try requireKnown(order.keyID)
        let hold = stateCache.hold(order.keyID, as: UnrecordedStop.state(after: order.action))
        let stop = UnrecordedStop(order: order, actor: actor, ordered: now, hold: hold)
        let isRepeated = unrecordedStops.contains(stop)
        do throws(KeyLifecycleRefusal) {
            let answer = try await inTurn(isUrgent: true) { () throws(KeyLifecycleRefusal) -> KeyChangeAnswer in
                // `inTurn` has recorded the first order.
                if isRepeated, !unrecordedStops.contains(stop) { return .done([try rules.record(order.keyID)]) }
                return try await decide(order, by: Administrator(name: actor))
            }
            stateCache.release([hold])
            return answer
        } catch {
            guard error.kind == .unrecorded, isServing else {
                stateCache.release([hold])
                throw error
            }
            switch unrecordedStops.add(stop) {
            case .added: break
            case .waitsAlready: stateCache.release([hold])
            case .tooMany:
                stateCache.release([hold])
                throw KeyLifecycleRefusal(
                    .unrecorded,
                    "The key \(order.keyID) is stopped, but \(UnrecordedStops.limit) orders of this kind wait to be "
                        + "recorded, which is the limit. The gateway records them by itself, but does not keep this "
                        + "order. Give it again later if the log must contain it. \(error)")
            }
            throw KeyLifecycleRefusal(
                .unrecorded,
                "The key \(order.keyID) is stopped, but the stop could not be recorded yet. The gateway retries; "
                    + "if this process ends first, the stop is lost. \(error)")
        }
    }

    /// Throws for an unknown key. Until the register is loaded, the keys of the configuration are known.
    private func requireKnown(_ keyID: String) throws(KeyLifecycleRefusal) {
        if stateCache.isLoaded {
            _ = try rules.record(keyID)
        } else if handle(keyID) == nil {
            try requireLoaded()
        }
    }

    /// Records all unrecorded stops in one transaction and in order. The most severe stop of a key sets its state.
    func recordStops() async throws(KeyLifecycleRefusal) {
        let stops = unrecordedStops.all
        guard !stops.isEmpty, stateCache.isLoaded else { return }
        var (latest, changed) = (stateCache.records, [KeyLifecycleRecord]())
        let time = now
        for stop in stops {
            guard let record = latest[stop.order.keyID], !stop.isRecorded(in: record) else { continue }
            let stopped = self.stopped(record, by: stop, at: time)
            latest[record.keyID] = stopped
            changed.append(stopped)
        }
        if !changed.isEmpty { _ = try await record(changed) }
        unrecordedStops.remove(stops)
        stateCache.release(stops.map(\.hold))
    }

    private func stopped(_ record: KeyLifecycleRecord, by stop: UnrecordedStop, at time: Timestamp)
        -> KeyLifecycleRecord
    {
        let state = record.state.stopped(as: stop.state)
        var stopped = change(
            record, to: state, stop.order.action, ChangeContext(actor: stop.actor, reason: stop.order.reason), at: time,
            evidence: ["orderedAt": stop.ordered.text])
        if state == .compromised, !record.isCompromised { stopped.compromisedAt = stop.ordered }
        if state == record.state {
            (stopped.since, stopped.retireAt) = (record.since, record.retireAt)
        } else if state == .suspended {
            stopped.suspendedFrom = record.state
        }
        return stopped
    }

    /// Makes a last attempt before the process ends: the next process does not know unrecorded stops.
    func recordLastStops() async {
        guard !unrecordedStops.all.isEmpty else { return }
        _ = try? await inTurn(isUrgent: true) {}
        for stop in unrecordedStops.all {
            logger.critical(
                "A stop of the key \(stop.order.keyID) was never recorded and ends with this process. Order it again after the start.",
                metadata: ["keyId": "\(stop.order.keyID)", "action": "\(stop.order.action.rawValue)"])
        }
    }
}

/// The orders that stopped keys and are not recorded yet, in the order of arrival.
final class UnrecordedStops: Sendable {
    /// The maximum of orders of one kind for one key. The first stops the key; the others only add names.
    static let limit = 16

    enum Addition {
        case added
        /// The same administrator gave the same order for the same reason before.
        case waitsAlready
        case tooMany
    }

    private let stops = Mutex<[UnrecordedStop]>([])

    var all: [UnrecordedStop] { stops.withLock { $0 } }

    func contains(_ stop: UnrecordedStop) -> Bool { stops.withLock { $0.contains { $0.isSame(as: stop) } } }

    func add(_ stop: UnrecordedStop) -> Addition {
        stops.withLock { stops in
            let similar = stops.filter { $0.order.keyID == stop.order.keyID && $0.order.action == stop.order.action }
            guard !similar.contains(where: stop.isSame) else { return .waitsAlready }
            guard similar.count < Self.limit else { return .tooMany }
            stops.append(stop)
            return .added
        }
    }

    func remove(_ recorded: [UnrecordedStop]) {
        stops.withLock { stops in stops.removeAll { stop in recorded.contains { $0.hold == stop.hold } } }
    }
}

/// An order that stopped a key and is not recorded yet.
struct UnrecordedStop: Sendable {
    let order: KeyChangeOrder
    let actor: String
    let ordered: Timestamp
    /// The number of its hold.
    let hold: Int

    var state: KeyLifecycleState { Self.state(after: order.action) }

    static func state(after action: KeyLifecycleAction) -> KeyLifecycleState {
        action == .compromise ? .compromised : .suspended
    }

    /// Whether the same administrator gave the same order for the same reason.
    func isSame(as other: UnrecordedStop) -> Bool { order == other.order && actor == other.actor }

    /// Whether the register has the stop: a commit that reported an error may have succeeded.
    func isRecorded(in record: KeyLifecycleRecord) -> Bool {
        record.history.contains {
            $0.action == order.action && $0.actor == actor && $0.reason == order.reason && $0.time >= ordered
        }
    }
}
