import GatewayHTTP
import Logging
import Synchronization

/// The last warnings and errors, for `privyseal status`.
final class RecentEvents: Sendable {
    private static let limit = 20
    private let events = Mutex<[GatewayStatus.Event]>([])

    func note(_ line: LogLine) {
        let event = GatewayStatus.Event(
            time: String(decoding: LogTime.now(), as: UTF8.self), level: line.level.rawValue, message: line.message)
        events.withLock { events in
            if events.count == Self.limit { events.removeFirst() }
            events.append(event)
        }
    }

    /// Oldest first.
    var all: [GatewayStatus.Event] { events.withLock { $0 } }
}
