import Encodings
import GatewayConfiguration
import NIOCore
import NIOTLS
import SigningKit

/// The first inbound handler, below HTTP. It starts the timeout at a request's first byte. Otherwise a client could
/// hold a connection open by sending a byte now and then.
final class AcceptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let clock: RequestTimeouts
    private let lineLimit: Int
    private let onHandshake: (any Channel) -> Void
    /// Received bytes of the current request's first line.
    private var lineBytes = 0
    private var isLineComplete = false
    /// The first bytes of the current request, at most `startLimit`.
    private var start: [UInt8] = []
    private var isDiscarding = false
    /// What the parser reads at the moment.
    private var input = ByteBuffer()

    /// In bytes: longer than any method.
    private static let startLimit = 32

    /// - Parameter onHandshake: called on the event loop.
    init(_ clock: RequestTimeouts, lineLimit: Int, onHandshake: @escaping (any Channel) -> Void) {
        self.clock = clock
        self.lineLimit = lineLimit
        self.onHandshake = onHandshake
    }

    /// Distinguishes a long request line from long header fields.
    var isLineTooLong: Bool { lineBytes > lineLimit }

    /// Whether the bytes before the first space form a token (RFC 9110 §5.6.2), as every method does. False while an
    /// earlier request awaits its answer.
    var beginsWithMethod: Bool { !method.isEmpty && method.allSatisfy(Self.isTokenByte) }

    /// Whether the method belongs to another protocol. The parser knows such methods and reports a different error.
    var beginsWithForeignMethod: Bool { Self.foreignMethods.contains { method.elementsEqual($0.utf8) } }

    /// Methods of RTSP (RFC 2326 §10), of AirPlay, and of the HTTP/2 preface (RFC 9113 §3.4).
    private static let foreignMethods = [
        "DESCRIBE", "ANNOUNCE", "SETUP", "PLAY", "PAUSE", "TEARDOWN", "GET_PARAMETER", "SET_PARAMETER", "REDIRECT",
        "RECORD", "FLUSH", "PRI",
    ]

    /// Whether the bytes that the parser reads have a `Content-Length` of digits that is larger than `UInt64.max`. The
    /// parser reports the same error for a length that is not a number.
    var hasOverlongContentLength: Bool {
        String(buffer: input).split(whereSeparator: \.isNewline).contains { line in
            let field = line.split(separator: ":", maxSplits: 1)
            guard field.count == 2, field[0].utf8.equalsIgnoringASCIICase("content-length") else { return false }
            let digits = field[1].utf8.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                && UInt64(Substring(digits)) == nil
        }
    }

    private var method: ArraySlice<UInt8> { clock.isAnswering ? [] : start.prefix { $0 != UInt8(ascii: " ") } }

    func discardRest() { isDiscarding = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isDiscarding { return }
        if clock.phase == .idle {
            lineBytes = 0
            isLineComplete = false
            start.removeAll(keepingCapacity: true)
        }
        clock.noteBytes()
        input = unwrapInboundIn(data)
        if !isLineComplete { measure(input.readableBytesView) }
        context.fireChannelRead(data)
        input = ByteBuffer()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            clock.noteHandshake()
            onHandshake(context.channel)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
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

/// The current phase of a connection and its deadline. Used on the connection's event loop only.
final class RequestTimeouts {
    enum Phase {
        case handshake
        case idle
        case arriving
        /// A request has arrived, and its answer is not complete.
        case answering
    }

    private(set) var phase: Phase
    private(set) var since: NIODeadline
    /// Called when a phase begins: its deadline may be earlier than the previous one.
    var onChange: (() -> Void)?
    private let bounds: GatewayConfiguration.Limits
    private var unanswered = 0
    private var isArriving = false

    init(_ bounds: GatewayConfiguration.Limits, isSecure: Bool) {
        self.bounds = bounds
        phase = isSecure ? .handshake : .idle
        since = .now()
    }

    var deadline: NIODeadline {
        switch phase {
        case .handshake: since + TimeAmount(bounds.handshakeTimeout)
        case .idle: since + TimeAmount(bounds.idleTimeout)
        case .arriving, .answering: since + TimeAmount(bounds.requestTimeout)
        }
    }

    /// The connection ends with the first answer after this time.
    var age: TimeAmount { TimeAmount(bounds.connectionAge) }

    /// The connection ends if the client does not read an answer for this time.
    var readTimeout: TimeAmount { TimeAmount(bounds.idleTimeout) }

    /// False while only the body of a request that has its answer is arriving.
    var owesAnswer: Bool { unanswered > 0 || !isArriving }

    var isAnswering: Bool { unanswered > 0 }

    var isAnsweringLast: Bool { unanswered == 1 }

    /// Whether a request's head has arrived and its end has not.
    var isReceivingBody: Bool { isArriving }

    func noteHandshake() { enter(.idle) }

    /// A request's first byte starts its timeout; later bytes do not restart it.
    func noteBytes() {
        if phase == .idle { enter(.arriving) }
    }

    func noteHead() {
        unanswered += 1
        isArriving = true
        noteBytes()
    }

    func noteRequestEnd() {
        isArriving = false
        guard phase == .arriving else { return }
        if unanswered > 0 { phase = .answering } else { enter(.idle) }
    }

    /// The rest of the arriving request will not come. The timeout of its answer starts now.
    func noteCutOff() {
        isArriving = false
        if unanswered > 0 { enter(.answering) }
    }

    func noteAnswerEnd() {
        unanswered -= 1
        if unanswered == 1, isArriving {
            enter(.arriving)
        } else if unanswered > 0 {
            enter(.answering)
        } else if !isArriving {
            enter(.idle)
        }
    }

    private func enter(_ phase: Phase) {
        self.phase = phase
        since = .now()
        onChange?()
    }
}
