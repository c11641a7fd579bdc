import Synchronization

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
