import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL
import SigningKit

/// Sets up each connection of a listener: TLS with the certificate of the moment, the clock, HTTP, and who is there.
struct GatewayChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let http: HTTP1Channel.Value
        let connection: Connection
        var channel: any Channel { http.channel }
    }

    let listener: ListenerName
    let registry: ConnectionRegistry
    /// Nil for a listener without TLS.
    let identity: TLSIdentity?
    let responder: HTTPChannelHandler.Responder
    let observer: ListenerObserver

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        PeerCredentials.uid(of: channel).flatMap { uid in
            let connection = Connection(listener, peer: Connection.Peer(uid: uid))
            return channel.eventLoop.makeCompletedFuture { try configure(channel, connection) }
                .flatMap { $0.setup(channel: channel, logger: logger) }
                .map { Value(http: $0, connection: connection) }
        }
    }

    func handle(value: Value, logger: Logger) async {
        let http = HTTP1Channel(responder: responder)
        let loop = value.channel.eventLoop
        await RequestLoop.$current.withValue(RequestLoop(loop) { loop.execute($0) }) {
            await Connection.$current.withValue(value.connection) {
                await http.handle(value: value.http, logger: logger)
            }
        }
    }

    private func configure(_ channel: any Channel, _ connection: Connection) throws -> HTTP1Channel {
        let bounds = registry.bounds(of: listener)
        let isWelcome = registry.enter(channel, connection, limit: bounds.connections)
        if isWelcome {
            channel.closeFuture.whenComplete { _ in registry.leave(channel) }
        } else {
            observer.noteRefused()
        }
        let clock = ExchangeClock(bounds, isSecure: identity != nil)
        let arrival = ArrivalHandler(clock, lineLimit: bounds.headerBytes) { channel in
            if let certificate = PeerCertificate(of: channel) { connection.note(certificate) }
        }
        let pipeline = channel.pipeline.syncOperations
        if let identity {
            try pipeline.addHandlers(NIOSSLServerHandler(context: identity.context), RecordGatherer())
        }
        try pipeline.addHandler(arrival)
        let exchange = NIOLoopBound(
            ExchangeHandler(
                clock, arrival, connection, refusal: isWelcome ? nil : .tooManyConnections, observer: observer),
            eventLoop: channel.eventLoop)
        var configuration = HTTP1Channel.Configuration(additionalChannelHandlers: [exchange.value])
        configuration.httpDecoder.maxHeaderFieldSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderListSize = bounds.headerBytes
        configuration.httpDecoder.maxHeaderFieldCount = 100
        return HTTP1Channel(responder: responder, configuration: configuration)
    }
}
