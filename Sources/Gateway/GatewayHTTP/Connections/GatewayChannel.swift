import GatewayConfiguration
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOSSL

/// Configures each connection of a listener: TLS with the current certificate, timeouts, HTTP, and the peer's identity.
struct GatewayChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let accepted: AcceptedConnection
        var channel: any Channel { accepted.channel }
    }

    let listener: ListenerName
    let registry: ConnectionRegistry
    let identity: TLSIdentity?
    let responder: HTTPChannelHandler.Responder
    let drain: Drain
    let observer: ListenerObserver

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        PeerCredentials.uid(of: channel).flatMap { uid in
            let connection = Connection(listener, peer: Connection.Peer(uid: uid))
            return channel.eventLoop.makeCompletedFuture { try configure(channel, connection) }
                .flatMap { $0.setup(channel: channel, logger: logger) }
                .flatMapThrowing { http in
                    let accepted = AcceptedConnection(http, connection)
                    try checkHeads(of: channel)
                    return Value(accepted: accepted)
                }
        }
    }

    func handle(value: Value, logger: Logger) async {
        let http = HTTP1Channel(responder: responder)
        await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
            await Connection.$current.withValue(value.accepted.connection) {
                await http.handle(value: value.accepted.take(), logger: logger)
            }
        }
    }

    private func configure(_ channel: any Channel, _ connection: Connection) throws -> HTTP1Channel {
        let bounds = registry.bounds(of: listener)
        // Register before the TLS context is taken: from here on, the connection receives trust root changes.
        let isAdmitted = registry.enter(channel, connection, limit: bounds.connections)
        if isAdmitted {
            channel.closeFuture.whenComplete { _ in registry.leave(channel) }
        } else {
            observer.noteRefused()
        }
        let clock = RequestTimeouts(bounds, isSecure: identity != nil)
        // Creating a context takes time, so a refused connection gets none.
        let tls = isAdmitted ? try identity?.forConnection() : nil
        let acceptHandler = AcceptHandler(clock, lineLimit: bounds.headerBytes) { channel in
            if let identity, let certificate = PeerCertificate(of: channel) {
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
                age: TimeAmount(bounds.connectionAge), readTimeout: TimeAmount(bounds.idleTimeout), observer: observer),
            eventLoop: channel.eventLoop)
        var configuration = HTTP1Channel.Configuration(additionalChannelHandlers: [handler.value])
        configuration.httpDecoder.maxHeaderFieldSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderListSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderFieldCount = 100
        return HTTP1Channel(responder: responder, configuration: configuration)
    }

    private func checkHeads(of channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let acceptHandler = try pipeline.handler(type: AcceptHandler.self)
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(RequestHeadHandler(acceptHandler), position: .after(parser))
    }
}
