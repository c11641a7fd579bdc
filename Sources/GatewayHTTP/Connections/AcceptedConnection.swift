import HummingbirdCore
import NIOCore
import Synchronization

/// A connection between its acceptance and its handling.
///
/// One that a listener accepts just before it ends is handed to nothing any more, and NIO ends the process when such a channel
/// goes away unfinished. So it is closed, as those are that come a moment later.
final class AcceptedConnection: Sendable {
    private let http: HTTP1Channel.Value
    let connection: Connection
    private let isHandled = Atomic(false)

    var channel: any Channel { http.channel }

    init(_ http: HTTP1Channel.Value, _ connection: Connection) {
        self.http = http
        self.connection = connection
    }

    /// For the task that handles it, to its end.
    func take() -> HTTP1Channel.Value {
        isHandled.store(true, ordering: .relaxed)
        return http
    }

    deinit {
        guard !isHandled.load(ordering: .acquiring) else { return }
        let http = http
        http.channel.close(promise: nil)
        Task { try? await http.executeThenClose { _, _ in } }
    }
}
