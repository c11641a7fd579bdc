import SigningKit

/// An order that stopped a key, and that the log could not record yet.
struct UnrecordedStop: Sendable {
    let order: KeyChangeOrder
    let actor: String
    let ordered: Timestamp
    /// The number of its hold.
    let hold: Int

    var state: KeyLifeState { Self.state(after: order.action) }

    static func state(after action: KeyLifeAction) -> KeyLifeState {
        action == .compromise ? .compromised : .suspended
    }

    /// Whether the same administrator gave the same order for the same reason.
    func isSame(as other: UnrecordedStop) -> Bool { order == other.order && actor == other.actor }

    /// Whether the register has it: a write that reported an error may have succeeded.
    func isRecorded(in record: KeyLifeRecord) -> Bool {
        record.history.contains {
            $0.action == order.action && $0.actor == actor && $0.reason == order.reason && $0.time >= ordered
        }
    }
}
