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
            connection.pipeline.noteRequest()
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
            connection.pipeline.noteAnswer()
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
    func cutOff(_ context: ChannelHandlerContext, because problem: @autoclosure () -> Problem) {
        guard clock.isReceivingBody else { return }
        isCutOff = true
        clock.noteCutOff()
        context.fireErrorCaught(problem())
    }
}

extension RequestHandler {
    /// Default of `quiet`.
    static let ordinaryQuiet = TimeAmount.milliseconds(500)

    /// Time for the peer to close too, and for a handshake that began before the trust roots changed.
    private static let timeout = TimeAmount.seconds(1)

    /// Makes the next answer the last: it says `Connection: close`. Without a request, the connection ends soon.
    func retire(_ context: ChannelHandlerContext, after time: TimeAmount = ordinaryQuiet) {
        guard !isEnding else { return }
        isRetiring = true
        quiet = min(quiet, time)
        lastRequestDeadline = min(lastRequestDeadline ?? .distantFuture, .now() + time)
        closeIfIdle(context, after: quiet)
    }

    /// A connection with unsent answers is not idle; `noteFlushed` calls this method again.
    func closeIfIdle(_ context: ChannelHandlerContext, after time: TimeAmount) {
        guard !isEnding, unflushed == 0, clock.phase == .idle || clock.phase == .handshake else { return }
        guard time > .zero else { return context.close(promise: nil) }
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.closeIfIdle(context, after: .zero)
        }
    }

    func cancelClosing() {
        closing?.cancel()
        handshakeEnd?.cancel()
    }

    /// Compares the certificate on the event loop, so that no certificate can arrive meanwhile. A connection whose
    /// certificate is no longer trusted answers no further request.
    func apply(_ change: TrustRootChange, _ context: ChannelHandlerContext) {
        if clock.phase == .handshake {
            // The certificate is compared when it arrives. An ordinary handshake completes within this timeout.
            handshakeEnd?.cancel()
            handshakeEnd = context.eventLoop.assumeIsolated().scheduleTask(in: Self.timeout) {
                if self.clock.phase == .handshake { context.close(promise: nil) }
            }
        } else if change.hasLostCertificate || !change.identity.trusts(connection.knownPeer.certificate) {
            connection.forgetCertificate()
            hasLastRequest = hasLastRequest || clock.isAnswering || clock.isReceivingBody
            // The client has not read all of the last answer.
            if clock.phase == .idle, unflushed > 0 { closeAfterFlush(context) } else { retire(context, after: .zero) }
        } else {
            connection.renewIssuers(by: change.identity)
        }
    }

    // MARK: The last answer

    /// - Returns: the promise for writing the answer's end. Until it completes, the answer counts as unflushed.
    func flushPromise(
        _ context: ChannelHandlerContext, cascadingTo promise: EventLoopPromise<Void>?
    ) -> EventLoopPromise<Void> {
        unflushed += 1
        let flushed = context.eventLoop.makePromise(of: Void.self)
        if let promise { flushed.futureResult.cascade(to: promise) }
        flushed.futureResult.assumeIsolated().whenComplete { _ in self.noteFlushed(context) }
        return flushed
    }

    private func noteFlushed(_ context: ChannelHandlerContext) {
        unflushed -= 1
        guard unflushed == 0, context.channel.isActive else { return }
        if let held = heldOutputClose.take() { context.close(mode: .output, promise: held.promise) }
        if isEnding { closeOutput(context) } else if isRetiring { closeIfIdle(context, after: quiet) }
    }

    /// Ends the connection after the answers that the channel still holds.
    func closeAfterFlush(_ context: ChannelHandlerContext) {
        isEnding = true
        stop()
        acceptHandler.discardRest()
        if unflushed > 0 { close(context, in: clock.readTimeout) } else { closeOutput(context) }
    }

    /// Closes the output, and the whole connection when the peer closes too or after `timeout`. Closing at once would
    /// reset the connection if anything is unread, and the peer could lose the answer (RFC 9112 §9.6).
    private func closeOutput(_ context: ChannelHandlerContext) {
        // A refused connection is not counted, so it must not stay open.
        guard refusal == nil else { return context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        close(context, in: Self.timeout)
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }

    /// Answers with the reason and closes. Without a reason, or after an answer has begun, it only closes.
    func end(_ context: ChannelHandlerContext, with reason: Problem?) {
        guard !isEnding else { return }
        isEnding = true
        defer { cutOff(context, because: .incompleteBody) }
        stop()
        guard var problem = reason, !hasBegunToAnswer else { return context.close(promise: nil) }
        if let scope = connection.end(with: problem.kind) {
            problem.requestID = scope.requestID
        } else {
            problem.requestID = RequestID.next()
            reports.noteAnswered(problem, connection.listener)
        }
        acceptHandler.discardRest()
        // A client that does not read this answer in time loses it. Earlier answers keep their read timeout.
        close(context, in: unflushed > 0 ? clock.readTimeout : Self.timeout)
        let answer = problem.closingAnswer()
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: flushPromise(context, cascadingTo: nil))
    }
}
