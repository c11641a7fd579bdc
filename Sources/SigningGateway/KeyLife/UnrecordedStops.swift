import Synchronization

/// The orders that stopped keys and are not in the register yet, in the order in which they came.
final class UnrecordedStops: Sendable {
    /// Orders of one kind for one key. The first one already stops the key; the others only tell who else wanted it.
    private static let limit = 16

    private let stops = Mutex<[UnrecordedStop]>([])

    var all: [UnrecordedStop] { stops.withLock { $0 } }

    func contains(_ stop: UnrecordedStop) -> Bool { stops.withLock { $0.contains { $0.isSame(as: stop) } } }

    /// - Returns: whether the order is kept. It is not when the same order waits already, or too many of its kind.
    func add(_ stop: UnrecordedStop) -> Bool {
        stops.withLock { stops in
            let similar = stops.filter { $0.order.keyID == stop.order.keyID && $0.order.action == stop.order.action }
            guard similar.count < Self.limit, !similar.contains(where: stop.isSame) else { return false }
            stops.append(stop)
            return true
        }
    }

    func remove(_ recorded: [UnrecordedStop]) {
        stops.withLock { stops in stops.removeAll { stop in recorded.contains { $0.hold == stop.hold } } }
    }
}
