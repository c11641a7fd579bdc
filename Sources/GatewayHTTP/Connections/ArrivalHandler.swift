import NIOCore
import NIOTLS

/// The first to see what comes in, below HTTP: starts the clock at a request's first byte, so that one who sends a byte
/// now and then does not hold a connection.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let clock: ExchangeClock
    private let lineLimit: Int
    private let onHandshake: (any Channel) -> Void
    /// Of the present request's first line, as far as it has come.
    private var lineBytes = 0
    private var isLineComplete = false

    /// - Parameters:
    ///   - lineLimit: what a request's first line may have, in bytes.
    ///   - onHandshake: called on the event loop.
    init(_ clock: ExchangeClock, lineLimit: Int, onHandshake: @escaping (any Channel) -> Void) {
        self.clock = clock
        self.lineLimit = lineLimit
        self.onHandshake = onHandshake
    }

    /// Tells a long line from long fields.
    var isLineTooLong: Bool { lineBytes > lineLimit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if clock.phase == .idle {
            lineBytes = 0
            isLineComplete = false
        }
        clock.noteBytes()
        if !isLineComplete { measure(unwrapInboundIn(data).readableBytesView) }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            clock.noteHandshake()
            onHandshake(context.channel)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func measure(_ bytes: ByteBufferView) {
        if let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            lineBytes += newline - bytes.startIndex
            isLineComplete = true
        } else {
            lineBytes += bytes.count
        }
    }
}
