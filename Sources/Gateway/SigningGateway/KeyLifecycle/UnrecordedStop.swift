import SigningKit

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
