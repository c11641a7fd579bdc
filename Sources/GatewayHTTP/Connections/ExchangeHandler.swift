import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Keeps a connection within its bounds: what takes too long, and what cannot be read, is answered with its own status and
/// ends the connection.
///
/// One timer runs for each connection, however many requests it carries: it is set anew when it has run out, or when it
/// would ring too late.
final class ExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    let clock: ExchangeClock
    let arrival: ArrivalHandler
    let connection: Connection
    let refusal: Problem?
    private let drain: Drain
    /// For how long it is open before it is retired.
    private let age: TimeAmount
    let observer: any ConnectionObserver
    /// How long a client may take to read what was answered.
    let readTimeout: TimeAmount
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?
    private var retirement: Scheduled<Void>?
    var closing: Scheduled<Void>?
    /// The bound of a handshake that began before the trust roots changed.
    var handshakeEnd: Scheduled<Void>?
    var hasBegunToAnswer = false
    /// What is to be said when all that came before has been answered.
    private var last: Problem?
    /// Whether the body of the last request will not come whole.
    var isCutOff = false
    /// Whether the last request has come: it said `Connection: close`, or the connection was retired before it. Requests behind
    /// it are not answered; the client repeats them on another connection (RFC 9112 §9.6).
    var hasLastRequest = false
    /// Whether the connection is to end when its requests are answered.
    var isRetiring = false
    /// How long a retired connection waits for a request that is on its way.
    var quiet = ExchangeHandler.ordinaryQuiet
    /// The first request that arrives after this moment is the last; nil until the connection is retired.
    var lastRequestDeadline: NIODeadline?
    /// Answers of which the channel still holds bytes.
    var unflushed = 0
    /// A close of the output that waits for these answers.
    var heldOutputClose: HeldClose?
    /// Whether the answer that is being written says `Connection: close`.
    private var announcesClose = false
    var isEnding = false

    struct HeldClose {
        let promise: EventLoopPromise<Void>?
    }

    /// - Parameters:
    ///   - refusal: what the connection is answered with instead of being served.
    ///   - drain: answers say `Connection: close` once it has begun.
    ///   - age: after this time the connection ends with its next answer.
    ///   - readTimeout: after this time without the client having read an answer, the connection ends.
    init(
        _ clock: ExchangeClock, _ arrival: ArrivalHandler, _ connection: Connection, refusal: Problem?, drain: Drain,
        age: TimeAmount, readTimeout: TimeAmount, observer: any ConnectionObserver
    ) {
        self.clock = clock
        self.arrival = arrival
        self.connection = connection
        self.refusal = refusal
        self.drain = drain
        self.age = age
        self.readTimeout = readTimeout
        self.observer = observer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        clock.onChange = { self.keepTime(context) }
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
                hangUp(context)
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
        // Where the peer has closed its output already, the channel would close entirely and drop what it still holds.
        heldOutputClose = HeldClose(promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: retire(context)
        case let change as TrustChange: obey(change, context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let problem: Problem
        switch error {
        case let fault as RequestHeadFault: problem = Problem(fault)
        case HTTPParserError.invalidEOFState where clock.isReceivingBody: problem = .incompleteBody
        case let error as HTTPParserError: problem = Problem(error, isLineTooLong: arrival.isLineTooLong)
        default:
            if clock.phase == .handshake, !isEnding { observer.noteFailedHandshake(error) }
            return context.fireErrorCaught(error)
        }
        if clock.isReceivingBody { return cutOff(context, because: problem) }
        // What cannot be read came behind requests that could: those are answered first.
        if clock.isAnswering { last = problem } else { end(context, with: problem) }
    }

    private var isLate: Bool { lastRequestDeadline.map { $0 <= .now() } ?? false }

    // MARK: Time

    private func begin(_ context: ChannelHandlerContext) {
        guard let refusal else {
            retirement?.cancel()
            retirement = context.eventLoop.assumeIsolated().scheduleTask(in: age) { self.retire(context) }
            return keepTime(context)
        }
        // Before its handshake a peer can be told nothing.
        end(context, with: clock.phase == .handshake ? nil : refusal)
    }

    /// Sees to it that the timer rings when the deadline is over, or before.
    private func keepTime(_ context: ChannelHandlerContext) {
        guard !isEnding, context.channel.isActive else { return }
        let deadline = clock.deadline
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.ring(context) }
        timer = (task, deadline)
    }

    private func ring(_ context: ChannelHandlerContext) {
        timer = nil
        guard clock.deadline <= .now() else { return keepTime(context) }
        observer.noteOverdue(clock.phase)
        if clock.phase == .arriving, clock.isReceivingBody, clock.isAnswering, let problem = Problem(overdue: .arriving)
        {
            return cutOff(context, because: problem)
        }
        // A request whose answer is out already has no second one.
        end(context, with: clock.owesAnswer ? Problem(overdue: clock.phase) : nil)
    }

    func stop() {
        timer?.task.cancel()
        timer = nil
        retirement?.cancel()
        retirement = nil
        clock.onChange = nil
    }

    /// Whether the answer that begins is the connection's last. Requests that have come already are answered before.
    private var closesAfterAnswer: Bool {
        guard clock.isAnsweringLast else { return false }
        return hasLastRequest || (isRetiring || drain.hasBegun) && !clock.isReceivingBody
    }

    /// Says to whoever reads the body that it will not come whole, and why: otherwise its end would look like the body's. The
    /// request is answered as every other one, and the connection is closed behind it.
    func cutOff(_ context: ChannelHandlerContext, because problem: Problem) {
        guard clock.isReceivingBody else { return }
        isCutOff = true
        clock.noteCutOff()
        context.fireErrorCaught(problem)
    }
}
