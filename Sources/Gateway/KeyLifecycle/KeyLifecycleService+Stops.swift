import Logging
import Signing
import SigningKit

extension KeyLifecycleService {
    /// Stops the key before the order is recorded: it signs nothing from now on, even if the write fails. The gateway
    /// then retries the write, and an administrator may repeat the order.
    func stop(_ order: KeyChangeOrder, by actor: String) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        try requireKnown(order.keyID)
        let record = stateCache.isLoaded ? stateCache.records[order.keyID] : nil
        let stop = KeyStop(
            order: order, actor: actor, ordered: now, precedesEffect: record.map(hasPendingEffect) ?? false,
            after: record, of: handle(order.keyID))
        let isRepeated = stateCache.unrecordedStops.contains(where: stop.isSame)
        stateCache.begin(stop)
        do throws(KeyLifecycleRefusal) {
            let answer = try await inTurn(isUrgent: true) { () throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer in
                // `inTurn` has recorded the first order.
                if isRepeated, !stateCache.unrecordedStops.contains(where: stop.isSame) {
                    return .done([try rules.record(order.keyID)])
                }
                return try await decide(order, by: Administrator(name: actor))
            }
            stateCache.end([stop])
            return answer
        } catch {
            guard error.kind == .unrecorded || error.kind == .superseded, isServing else {
                stateCache.end([stop])
                throw error
            }
            guard stateCache.keep(stop) else {
                throw KeyLifecycleRefusal(
                    .unrecorded,
                    "The key \(order.keyID) is stopped, but \(KeyStop.limit) orders of this kind wait to be "
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
        let stops = stateCache.unrecordedStops
        guard !stops.isEmpty, stateCache.isLoaded else { return }
        var (latest, changed) = (stateCache.records, [KeyLifecycleRecord]())
        let time = now
        for stop in stops {
            var record = latest[stop.order.keyID]
            if record == nil, let adopted = stop.adopted {
                // A reload removed the key before its adoption was recorded.
                changed.append(adopted)
                record = adopted
            }
            guard let record, !stop.isRecorded(in: record) else { continue }
            let stopped = self.stopped(record, by: stop, at: time)
            changed.append(stopped)
            if stop.precedesEffect {
                restore(insteadOf: &changed, ChangeContext(actor: stop.actor, reason: stop.order.reason))
            }
            for record in changed { latest[record.keyID] = record }
        }
        if !changed.isEmpty { _ = try await record(changed) }
        stateCache.end(stops)
    }

    private func stopped(_ record: KeyLifecycleRecord, by stop: KeyStop, at time: Timestamp) -> KeyLifecycleRecord {
        let state = record.state.stopped(as: stop.state)
        var stopped = change(
            record, to: state, stop.order.action, ChangeContext(actor: stop.actor, reason: stop.order.reason), at: time,
            evidence: ["orderedAt": stop.ordered.text])
        if state == .compromised, !record.isCompromised { stopped.compromisedAt = stop.ordered }
        if state == record.state { (stopped.since, stopped.retireAt) = (record.since, record.retireAt) }
        return stopped
    }

    /// Makes a last attempt before the process ends: the next process does not know unrecorded stops.
    func recordLastStops() async {
        guard !stateCache.unrecordedStops.isEmpty else { return }
        _ = try? await inTurn(isUrgent: true) {}
        for stop in stateCache.unrecordedStops {
            logger.critical(
                "A stop of the key \(stop.order.keyID) was never recorded and ends with this process. Order it again after the start.",
                metadata: ["keyId": "\(stop.order.keyID)", "action": "\(stop.order.action.rawValue)"])
        }
    }
}

/// An order that stops a key. It is in effect until the register has the stop, or refuses it.
final class KeyStop: Sendable {
    /// The maximum of unrecorded orders of one kind for one key. The first stops the key; the others only add names.
    static let limit = 16

    let order: KeyChangeOrder
    let actor: String
    let ordered: Timestamp
    /// Whether the activation of the key had not taken effect when the order came.
    let precedesEffect: Bool
    /// The number of equal orders in the register when this one came; nil if the register was not known then.
    private let earlier: Int?
    /// The record of the key before the order. The register may have no record of a key that the configuration added
    /// during an outage of the log; it gets this one. Nil for a key that is neither in the register nor configured.
    let adopted: KeyLifecycleRecord?

    /// - Parameters:
    ///   - record: of the key, when the order came.
    ///   - handle: of the key; nil unless it is configured.
    init(
        order: KeyChangeOrder, actor: String, ordered: Timestamp, precedesEffect: Bool = false,
        after record: KeyLifecycleRecord? = nil, of handle: KeyHandle? = nil
    ) {
        (self.order, self.actor, self.ordered, self.precedesEffect) = (order, actor, ordered, precedesEffect)
        earlier = record.map { Self.count(order, by: actor, in: $0) }
        var adopted =
            record
            ?? handle.map {
                KeyLifecycleRecord(adopting: order.keyID, of: $0.issuerID, as: .staged, at: ordered)
            }
        if adopted?.fingerprint == nil { adopted?.fingerprint = handle?.fingerprint }
        self.adopted = adopted
    }

    /// `suspended` or `compromised`.
    var state: KeyLifecycleState { order.action == .compromise ? .compromised : .suspended }

    /// Whether the same administrator gave the same order for the same reason.
    func isSame(as other: KeyStop) -> Bool { order == other.order && actor == other.actor }

    /// Whether the register has the stop: a commit that reported an error may have succeeded. Times do not show it, because
    /// a clock may have been set, and an administrator may give the same order again after the key was resumed.
    func isRecorded(in record: KeyLifecycleRecord) -> Bool {
        let count = Self.count(order, by: actor, in: record)
        return if let earlier { count > earlier } else { count > 0 && record.state.stopped(as: state) == record.state }
    }

    private static func count(_ order: KeyChangeOrder, by actor: String, in record: KeyLifecycleRecord) -> Int {
        record.history.count { $0.action == order.action && $0.actor == actor && $0.reason == order.reason }
    }
}
