import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request takes too long: a client that sends its request slowly would keep the place of
/// another one. Closes it also after a request that was too large, whose rest is not read.
final class RequestTimeout: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: TimeAmount
    private var end: Scheduled<Void>?
    private var isTooLarge = false

    init(_ limit: TimeAmount) {
        self.limit = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) {
            let channel = context.channel
            end = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { channel.close(promise: nil) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var promise = promise
        switch unwrapOutboundIn(data) {
        case .head(let response): isTooLarge = response.status == .contentTooLarge
        case .body: break
        case .end:
            end?.cancel()
            if isTooLarge {
                let written = promise ?? context.eventLoop.makePromise()
                let channel = context.channel
                written.futureResult.whenComplete { _ in channel.close(promise: nil) }
                promise = written
            }
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }
}
