import NIOCore

/// Closes a connection after a time, whatever its client does.
final class ConnectionLifetime: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let limit: TimeAmount
    private var end: Scheduled<Void>?

    init(_ limit: TimeAmount) {
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        end = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }
}
