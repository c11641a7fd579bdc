import NIOCore
import NIOTLS

/// The first to see what comes in, below HTTP: starts the clock at a request's first byte, so that one who sends a byte
/// now and then does not hold a connection.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let clock: ExchangeClock
    private let onHandshake: (any Channel) -> Void
    /// Whether the present request's line has come to its end; tells a long line from long fields.
    private(set) var isLineComplete = false

    /// - Parameter onHandshake: called on the event loop.
    init(_ clock: ExchangeClock, onHandshake: @escaping (any Channel) -> Void) {
        self.clock = clock
        self.onHandshake = onHandshake
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isFirst = clock.phase == .idle
        clock.noteBytes()
        if isFirst { isLineComplete = false }
        if !isLineComplete {
            isLineComplete = unwrapInboundIn(data).readableBytesView.contains(UInt8(ascii: "\n"))
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            clock.noteHandshake()
            onHandshake(context.channel)
        }
        context.fireUserInboundEventTriggered(event)
    }
}
