import Logging
import SigningKit

/// Stops of keys: they hold before they are recorded, and until they are.
extension KeyOffice {
    /// Stops the key before the order is recorded: it signs nothing from now on, even if the record fails. The gateway tries
    /// again to record the stop, and an administrator may order it again.
    func stop(_ order: KeyChangeOrder, by actor: String) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        try requireKnown(order.keyID)
        let hold = board.hold(order.keyID, as: UnrecordedStop.state(after: order.action))
        let stop = UnrecordedStop(order: order, actor: actor, ordered: now, hold: hold)
        let isRepeated = unrecordedStops.contains(stop)
        do throws(KeyLifeRefusal) {
            let answer = try await inTurn(isUrgent: true) { () throws(KeyLifeRefusal) -> KeyChangeAnswer in
                // The beginning of this turn has recorded the first order.
                if isRepeated, !unrecordedStops.contains(stop) { return .done([try rules.record(order.keyID)]) }
                return try await decide(order, by: Administrator(name: actor))
            }
            board.release([hold])
            return answer
        } catch {
            guard error.kind == .unrecorded, isServing else {
                board.release([hold])
                throw error
            }
            switch unrecordedStops.add(stop) {
            case .added: break
            case .waitsAlready: board.release([hold])
            case .tooMany:
                board.release([hold])
                throw KeyLifeRefusal(
                    .unrecorded,
                    "The key \(order.keyID) is stopped, but \(UnrecordedStops.limit) orders of this kind wait to be recorded, which is the "
                        + "most. Those are recorded by themselves; this order is not kept, so give it again later if the log must "
                        + "have it, too. \(error)")
            }
            throw KeyLifeRefusal(
                .unrecorded,
                "The key \(order.keyID) is stopped, but that could not be recorded yet; it is tried again by itself, and "
                    + "ends with this process until then. \(error)")
        }
    }

    /// While the register is not loaded, the keys of the configuration are the known ones.
    private func requireKnown(_ keyID: String) throws(KeyLifeRefusal) {
        if board.isLoaded {
            _ = try rules.record(keyID)
        } else if slot(keyID) == nil {
            try requireLoaded()
        }
    }

    /// Records every stop that could not be recorded when it was ordered: in one transaction, in their order. The most severe
    /// one of a key determines its state.
    func recordStops() async throws(KeyLifeRefusal) {
        let stops = unrecordedStops.all
        guard !stops.isEmpty, board.isLoaded else { return }
        var (latest, changed) = (board.records, [KeyLifeRecord]())
        let time = now
        for stop in stops {
            guard let record = latest[stop.order.keyID], !stop.isRecorded(in: record) else { continue }
            let stopped = self.stopped(record, by: stop, at: time)
            latest[record.keyID] = stopped
            changed.append(stopped)
        }
        if !changed.isEmpty { _ = try await record(changed) }
        unrecordedStops.remove(stops)
        board.release(stops.map(\.hold))
    }

    private func stopped(_ record: KeyLifeRecord, by stop: UnrecordedStop, at time: Timestamp) -> KeyLifeRecord {
        let state = record.state.stopped(as: stop.state)
        var stopped = change(
            record, to: state, stop.order.action, Hand(actor: stop.actor, reason: stop.order.reason), at: time,
            evidence: ["orderedAt": String(decoding: stop.ordered.rfc3339, as: UTF8.self)])
        if state == .compromised, !record.isCompromised { stopped.compromisedAt = stop.ordered }
        if state == record.state {
            (stopped.since, stopped.retireAt) = (record.since, record.retireAt)
        } else if state == .suspended {
            stopped.suspendedFrom = record.state
        }
        return stopped
    }

    /// Before the process ends: the register that the next one reads does not have what is unrecorded now.
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
