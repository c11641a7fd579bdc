import GatewayConfiguration
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOSSL
import Synchronization

/// Configures each connection of a listener: TLS with the current certificate, timeouts, HTTP, and the peer's identity.
struct GatewayChannel: ServerChildChannel {
    let listener: ListenerName
    let registry: ConnectionRegistry
    let identity: TLSIdentity?
    let routes: Routes
    let drain: Drain

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        Self.uid(of: channel).flatMap { uid in
            let connection = Connection(listener, peer: Connection.Peer(uid: uid))
            return channel.eventLoop.makeCompletedFuture { try configure(channel, connection) }
                .flatMap { $0.setup(channel: channel, logger: logger) }
                .flatMapThrowing { http in
                    let accepted = AcceptedConnection(http, connection)
                    try checkHeads(of: channel)
                    return accepted
                }
        }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        let connection = value.connection
        let http = HTTP1Channel { [routes] request, writer, channel in
            let response = await routes.respond(to: request, on: connection)
            try await writer.write(response: response.head, body: response.body)
            await connection.pipeline.pause(on: channel.eventLoop)
        }
        await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
            await http.handle(value: value.take(), logger: logger)
        }
    }

    private func configure(_ channel: any Channel, _ connection: Connection) throws -> HTTP1Channel {
        let bounds = registry.bounds(of: listener)
        // Register before the TLS context is taken: from here on, the connection receives trust root changes.
        let isAdmitted = registry.enter(channel, connection, limit: bounds.connections)
        if isAdmitted {
            channel.closeFuture.whenComplete { _ in registry.leave(channel, listener) }
        } else {
            routes.reports.noteRefused(listener, "limit")
        }
        let clock = RequestTimeouts(bounds, isSecure: identity != nil)
        // Creating a context takes time, so a refused connection gets none.
        let tls = isAdmitted ? try identity?.forConnection() : nil
        let acceptHandler = AcceptHandler(clock, lineLimit: bounds.headerBytes) { channel in
            if let identity, tls?.asksForCertificate == true, let certificate = PeerCertificate(of: channel) {
                connection.note(identity.noteIssuers(of: certificate))
            }
            // Note the certificate before the comparison, so that a later change of the trust roots finds it.
            guard let identity, identity.trustRevision != tls?.trustRevision,
                !identity.trusts(connection.knownPeer.certificate)
            else { return }
            connection.forgetCertificate()
            channel.close(promise: nil)
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            try pipeline.addHandlers(NIOSSLServerHandler(context: tls.context), RecordGatherer())
        }
        try pipeline.addHandler(acceptHandler)
        let handler = NIOLoopBound(
            RequestHandler(
                clock, acceptHandler, connection, refusal: isAdmitted ? nil : .tooManyConnections, drain: drain,
                reports: routes.reports),
            eventLoop: channel.eventLoop)
        var configuration = HTTP1Channel.Configuration(additionalChannelHandlers: [handler.value])
        configuration.httpDecoder.maxHeaderFieldSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderListSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderFieldCount = 100
        // `handle` answers the requests.
        return HTTP1Channel(responder: { _, _, _ in }, configuration: configuration)
    }

    private func checkHeads(of channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let acceptHandler = try pipeline.handler(type: AcceptHandler.self)
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(RequestHeadHandler(acceptHandler), position: .after(parser))
    }

    /// `struct ucred` (unix(7)), which glibc declares only with _GNU_SOURCE.
    private struct PeerCredentials {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
    }

    /// The uid of a Unix socket's peer when it connected (`SO_PEERCRED` of unix(7)); nil on other kinds of socket, and for
    /// a child process: a module in a signer must not be an administrator.
    private static func uid(of channel: any Channel) -> EventLoopFuture<UInt32?> {
        guard case .unixDomainSocket = channel.localAddress, let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        let credentials: EventLoopFuture<PeerCredentials> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.map { Self.isChild($0.pid) ? nil : $0.uid }
    }

    /// The second field after the name is the parent's process ID (proc_pid_stat(5)).
    private static func isChild(_ pid: Int32) -> Bool {
        let file = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return false }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        return fields.count > 2 && Int32(fields[2]) == getpid()
    }
}

/// A connection between its acceptance and its handling.
///
/// If a listener ends just after it accepted a connection, no task handles the connection. NIO stops the process when
/// such a channel is deallocated unfinished. So `deinit` closes it.
final class AcceptedConnection: ServerChildChannelValue {
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
