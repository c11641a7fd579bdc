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
    /// The first bytes of the present request, at most `startLimit`.
    private var start: [UInt8] = []
    private var isDiscarding = false

    /// In bytes: enough for any method.
    private static let startLimit = 32

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

    /// Whether the request begins with a token (RFC 9110 §5.6.2) and a space, as far as it has come: a method, known or not.
    /// Of a request behind another one that is not answered yet, it is not known.
    var beginsWithMethod: Bool { !method.isEmpty && method.allSatisfy(Self.isTokenByte) }

    /// Whether the request begins with a method that the parser knows of another protocol: it then calls something else wrong.
    var beginsWithForeignMethod: Bool { Self.foreignMethods.contains { method.elementsEqual($0.utf8) } }

    /// Of RTSP (RFC 2326 §10), of AirPlay, and of the preface of HTTP/2 (RFC 9113 §3.4).
    private static let foreignMethods = [
        "DESCRIBE", "ANNOUNCE", "SETUP", "PLAY", "PAUSE", "TEARDOWN", "GET_PARAMETER", "SET_PARAMETER", "REDIRECT",
        "RECORD", "FLUSH", "PRI",
    ]

    private var method: ArraySlice<UInt8> { clock.isAnswering ? [] : start.prefix { $0 != UInt8(ascii: " ") } }

    /// From now on, what arrives is read and thrown away.
    func discardRest() { isDiscarding = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isDiscarding { return }
        if clock.phase == .idle {
            lineBytes = 0
            isLineComplete = false
            start.removeAll(keepingCapacity: true)
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

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private func measure(_ bytes: ByteBufferView) {
        start += bytes.prefix(Self.startLimit - start.count)
        if let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            lineBytes += newline - bytes.startIndex
            isLineComplete = true
        } else {
            lineBytes += bytes.count
        }
    }
}
