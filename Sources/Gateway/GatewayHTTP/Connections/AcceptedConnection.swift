import HummingbirdCore
import NIOCore
import Synchronization

/// A connection between its acceptance and its handling.
///
/// If a listener ends just after it accepted a connection, no task handles the connection. NIO stops the process when
/// such a channel is deallocated unfinished. So `deinit` closes it.
final class AcceptedConnection: Sendable {
    private let http: HTTP1Channel.Value
    let connection: Connection
    private let isHandled = Atomic(false)

    var channel: any Channel { http.channel }

    init(_ http: HTTP1Channel.Value, _ connection: Connection) {
        self.http = http
        self.connection = connection
    }

    /// The caller must handle the channel until its end.
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
