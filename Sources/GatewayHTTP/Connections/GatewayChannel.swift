import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOSSL
import SigningKit

/// Sets up each connection of a listener: TLS with the certificate of the moment, the clock, HTTP, and who is there.
struct GatewayChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let accepted: AcceptedConnection
        var channel: any Channel { accepted.channel }
    }

    let listener: ListenerName
    let registry: ConnectionRegistry
    /// Nil for a listener without TLS.
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
        let loop = value.channel.eventLoop
        await RequestLoop.$current.withValue(RequestLoop(loop) { loop.execute($0) }) {
            await Connection.$current.withValue(value.accepted.connection) {
                await http.handle(value: value.accepted.take(), logger: logger)
            }
        }
    }

    private func configure(_ channel: any Channel, _ connection: Connection) throws -> HTTP1Channel {
        let bounds = registry.bounds(of: listener)
        // Register before the TLS context is taken: from here on, the connection hears of changed trust roots.
        let isWelcome = registry.enter(channel, connection, limit: bounds.connections)
        if isWelcome {
            channel.closeFuture.whenComplete { _ in registry.leave(channel) }
        } else {
            observer.noteRefused()
        }
        let clock = ExchangeClock(bounds, isSecure: identity != nil)
        // To make a context takes time, so a connection that is refused gets none.
        let tls = isWelcome ? try identity?.forConnection() : nil
        let arrival = ArrivalHandler(clock, lineLimit: bounds.headerBytes) { channel in
            if let identity, let certificate = PeerCertificate(of: channel) {
                connection.note(identity.noteIssuers(of: certificate))
            }
            // Note the certificate before the comparison: a later change of the trust roots then finds it.
            guard let identity, identity.trustGeneration != tls?.trustGeneration,
                !identity.trusts(connection.knownPeer.certificate)
            else { return }
            connection.forgetCertificate()
            channel.close(promise: nil)
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            try pipeline.addHandlers(NIOSSLServerHandler(context: tls.context), RecordGatherer())
        }
        try pipeline.addHandler(arrival)
        let exchange = NIOLoopBound(
            ExchangeHandler(
                clock, arrival, connection, refusal: isWelcome ? nil : .tooManyConnections, drain: drain,
                age: bounds.connectionAge, readTimeout: bounds.idleTimeout, observer: observer),
            eventLoop: channel.eventLoop)
        var configuration = HTTP1Channel.Configuration(additionalChannelHandlers: [exchange.value])
        configuration.httpDecoder.maxHeaderFieldSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderListSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderFieldCount = 100
        return HTTP1Channel(responder: responder, configuration: configuration)
    }

    /// Puts the check of heads behind the HTTP parser.
    private func checkHeads(of channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let arrival = try pipeline.handler(type: ArrivalHandler.self)
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(RequestHeadHandler(arrival), position: .after(parser))
    }
}
