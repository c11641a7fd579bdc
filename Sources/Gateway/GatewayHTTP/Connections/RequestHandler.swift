import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Enforces the limits of a connection. A timeout or an unreadable request gets its own status and ends the connection.
///
/// Each connection has one timer for all its requests. It is rescheduled when it fires or when the deadline moves
/// earlier.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    let clock: RequestTimeouts
    let acceptHandler: AcceptHandler
    let connection: Connection
    let refusal: Problem?
    private let drain: Drain
    let reports: AnswerReports
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?
    private var retirement: Scheduled<Void>?
    var closing: Scheduled<Void>?
    /// Timeout of a handshake that began before the trust roots changed.
    var handshakeEnd: Scheduled<Void>?
    var hasBegunToAnswer = false
    /// The problem to answer with after the earlier requests are answered.
    private var last: Problem?
    /// Whether the rest of the last request's body will not arrive.
    var isCutOff = false
    /// Whether the last request has arrived: it said `Connection: close`, or the connection was retired before it. Later
    /// requests are not answered; the client repeats them on another connection (RFC 9112 §9.6).
    var hasLastRequest = false
    /// Whether the connection ends after the answers to its requests.
    var isRetiring = false
    /// How long a retired connection waits for a request that is already in transit.
    var quiet = RequestHandler.ordinaryQuiet
    /// The first request that arrives after this moment is the last; nil until the connection is retired.
    var lastRequestDeadline: NIODeadline?
    /// Number of answers of which the channel still holds bytes.
    var unflushed = 0
    /// A close of the output that waits for the unflushed answers.
    var heldOutputClose: HeldClose?
    private var announcesClose = false
    var isEnding = false

    struct HeldClose {
        let promise: EventLoopPromise<Void>?
    }

    /// - Parameters:
    ///   - refusal: the only answer of a connection that is not served; nil to serve it.
    ///   - drain: after it begins, answers say `Connection: close`.
    init(
        _ clock: RequestTimeouts, _ acceptHandler: AcceptHandler, _ connection: Connection, refusal: Problem?,
        drain: Drain, reports: AnswerReports
    ) {
        self.clock = clock
        self.acceptHandler = acceptHandler
        self.connection = connection
        self.refusal = refusal
        self.drain = drain
        self.reports = reports
    }

    func handlerAdded(context: ChannelHandlerContext) {
        clock.onChange = { self.scheduleTimer(context) }
        if context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
        cancelClosing()
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        cancelClosing()
        heldOutputClose.take()?.promise?.fail(ChannelError.ioOnClosedChannel)
        cutOff(context, because: .incompleteBody)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding, !isCutOff, last == nil else { return }
        guard clock.isReceivingBody || !announcesClose && !hasLastRequest else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            clock.noteHead()
            if head.headerFields[.connection] == "close" || isLate { hasLastRequest = true }
        case .body: break
        case .end:
            clock.noteRequestEnd()
            if isRetiring { closeIfIdle(context, after: quiet) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isEnding else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var (data, promise) = (data, promise)
        switch unwrapOutboundIn(data) {
        case .head(var head):
            hasBegunToAnswer = true
            announcesClose = closesAfterAnswer
            if announcesClose || isCutOff && clock.isAnsweringLast {
                head.headerFields[.connection] = "close"
                data = wrapOutboundOut(.head(head))
            }
        case .body: break
        case .end:
            hasBegunToAnswer = false
            clock.noteAnswerEnd()
            promise = flushPromise(context, cascadingTo: promise)
            guard !announcesClose else {
                closeAfterFlush(context)
                return context.writeAndFlush(data, promise: promise)
            }
        }
        context.write(data, promise: promise)
        if let last, !clock.isAnswering { end(context, with: last) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // The server closes the input when a stop has taken too long. A client that does not read must not make it longer.
        if mode == .input, isEnding || heldOutputClose != nil { return context.close(promise: promise) }
        guard mode == .output, unflushed > 0, heldOutputClose == nil else {
            return context.close(mode: mode, promise: promise)
        }
        // If the peer has closed its output, the channel would close entirely and drop the bytes that it still holds.
        heldOutputClose = HeldClose(promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: retire(context)
        case let change as TrustRootChange: apply(change, context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let problem: Problem
        switch error {
        case let fault as Problem: problem = fault
        case HTTPParserError.invalidEOFState where clock.isReceivingBody: problem = .incompleteBody
        case let error as HTTPParserError: problem = Problem(error, isLineTooLong: acceptHandler.isLineTooLong)
        default:
            if clock.phase == .handshake, !isEnding { reports.noteFailedHandshake(error, connection.listener) }
            return context.fireErrorCaught(error)
        }
        if clock.isReceivingBody { return cutOff(context, because: problem) }
        // Answer the readable requests before the unreadable one first.
        if clock.isAnswering { last = problem } else { end(context, with: problem) }
    }

    private var isLate: Bool { lastRequestDeadline.map { $0 <= .now() } ?? false }

    // MARK: Time

    private func begin(_ context: ChannelHandlerContext) {
        guard let refusal else {
            retirement?.cancel()
            retirement = context.eventLoop.assumeIsolated().scheduleTask(in: clock.age) { self.retire(context) }
            return scheduleTimer(context)
        }
        // Before the TLS handshake, no answer can be sent.
        end(context, with: clock.phase == .handshake ? nil : refusal)
    }

    /// Schedules the timer for the deadline or earlier.
    private func scheduleTimer(_ context: ChannelHandlerContext) {
        guard !isEnding, context.channel.isActive else { return }
        let deadline = clock.deadline
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.ring(context) }
        timer = (task, deadline)
    }

    private func ring(_ context: ChannelHandlerContext) {
        timer = nil
        guard clock.deadline <= .now() else { return scheduleTimer(context) }
        reports.noteOverdue(clock.phase, connection.listener)
        if clock.phase == .arriving, clock.isReceivingBody, clock.isAnswering,
            let problem = Problem(overdue: .arriving)
        {
            return cutOff(context, because: problem)
        }
        // A request that has its answer gets no second one.
        end(context, with: clock.owesAnswer ? Problem(overdue: clock.phase) : nil)
    }

    func stop() {
        timer?.task.cancel()
        timer = nil
        retirement?.cancel()
        retirement = nil
        clock.onChange = nil
    }

    /// Whether the answer that begins is the connection's last. Requests that have arrived are answered before it.
    private var closesAfterAnswer: Bool {
        guard clock.isAnsweringLast else { return false }
        return hasLastRequest || (isRetiring || drain.hasBegun) && !clock.isReceivingBody
    }

    /// Fails the reader of the body with `problem`; otherwise the reader would take the end of the stream for the end
    /// of the body. The request still gets an answer, and the connection closes after it.
    func cutOff(_ context: ChannelHandlerContext, because problem: Problem) {
        guard clock.isReceivingBody else { return }
        isCutOff = true
        clock.noteCutOff()
        context.fireErrorCaught(problem)
    }
}
