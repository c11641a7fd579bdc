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

    private let clock: ExchangeClock
    private let arrival: ArrivalHandler
    private let connection: Connection
    private let refusal: Problem?
    private let drain: Drain
    /// For how long it is open before it is retired.
    private let age: TimeAmount
    private let observer: any ConnectionObserver
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?
    private var retirement: Scheduled<Void>?
    private var closing: Scheduled<Void>?
    private var hasBegunToAnswer = false
    /// What is to be said when all that came before has been answered.
    private var last: Problem?
    /// Whether the body of the last request will not come whole.
    private var isCutOff = false
    /// Whether the last request has come: it said `Connection: close`.
    private var hasLastRequest = false
    /// Whether the connection is to end when its requests are answered.
    private var isRetiring = false
    /// Whether the answer that is being written says `Connection: close`.
    private var announcesClose = false
    private var isEnding = false

    /// - Parameters:
    ///   - refusal: what the connection is answered with instead of being served.
    ///   - drain: answers say `Connection: close` once it has begun.
    ///   - age: after this time the connection ends with its next answer.
    init(
        _ clock: ExchangeClock, _ arrival: ArrivalHandler, _ connection: Connection, refusal: Problem?, drain: Drain,
        age: TimeAmount, observer: any ConnectionObserver
    ) {
        self.clock = clock
        self.arrival = arrival
        self.connection = connection
        self.refusal = refusal
        self.drain = drain
        self.age = age
        self.observer = observer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        clock.onChange = { self.keepTime(context) }
        if context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
        closing?.cancel()
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        closing?.cancel()
        cutOff(context, because: .incompleteBody)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // After an answer with `Connection: close` no request is answered; the client uses another connection (RFC 9112 §9.6).
        guard !isEnding, !isCutOff, !announcesClose || clock.isReceivingBody, last == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            clock.noteHead()
            if head.headerFields[.connection] == "close" { hasLastRequest = true }
        case .body: break
        case .end:
            clock.noteRequestEnd()
            if isRetiring { closeIfIdle(context, after: Self.quiet) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isEnding else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var data = data
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
            guard !announcesClose else {
                context.writeAndFlush(data, promise: promise)
                return hangUp(context)
            }
            if isRetiring { closeIfIdle(context, after: Self.quiet) }
        }
        context.write(data, promise: promise)
        if let last, !clock.isAnswering { end(context, with: last) }
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

    private func stop() {
        timer?.task.cancel()
        timer = nil
        retirement?.cancel()
        retirement = nil
        clock.onChange = nil
    }

    // MARK: The end

    /// Time for a request that is on its way when a connection is retired.
    private static let quiet = TimeAmount.milliseconds(500)

    /// Whether the answer that begins is the connection's last. Requests that have come already are answered before.
    private var closesAfterAnswer: Bool {
        guard clock.isAnsweringLast else { return false }
        return hasLastRequest || (isRetiring || drain.hasBegun) && !clock.isReceivingBody
    }

    /// The next answer says `Connection: close`, and the connection ends behind it. If no request comes, it ends soon.
    private func retire(_ context: ChannelHandlerContext, after time: TimeAmount = quiet) {
        guard !isEnding else { return }
        isRetiring = true
        closeIfIdle(context, after: time)
    }

    private func closeIfIdle(_ context: ChannelHandlerContext, after time: TimeAmount) {
        guard clock.phase == .idle || clock.phase == .handshake else { return }
        guard time > .zero else { return context.close(promise: nil) }
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.closeIfIdle(context, after: .zero)
        }
    }

    /// A certificate that is not trusted any more gets no further request answered.
    private func obey(_ change: TrustChange, _ context: ChannelHandlerContext) {
        if clock.phase == .handshake {
            // Its certificate has not come yet, and is compared when it comes. An ordinary handshake is over by then.
            closing?.cancel()
            closing = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
                if self.clock.phase == .handshake { context.close(promise: nil) }
            }
        } else if change.isDistrusted {
            retire(context, after: .zero)
        }
    }

    /// Closes for writing, and entirely when the peer has closed too or a moment later. To close at once would reset the
    /// connection if anything is unread, and the peer could lose the answer (RFC 9112 §9.6).
    private func hangUp(_ context: ChannelHandlerContext) {
        isEnding = true
        stop()
        arrival.discardRest()
        context.close(mode: .output, promise: nil)
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { context.close(promise: nil) }
    }

    /// Says to whoever reads the body that it will not come whole, and why: otherwise its end would look like the body's. The
    /// request is answered as every other one, and the connection is closed behind it.
    private func cutOff(_ context: ChannelHandlerContext, because problem: Problem) {
        guard clock.isReceivingBody else { return }
        isCutOff = true
        clock.noteCutOff()
        context.fireErrorCaught(problem)
    }

    private static let patience = TimeAmount.seconds(1)

    /// Says why, unless an answer is half out already or there is nobody to tell, and closes the connection.
    private func end(_ context: ChannelHandlerContext, with reason: Problem?) {
        guard !isEnding else { return }
        isEnding = true
        defer { cutOff(context, because: .incompleteBody) }
        stop()
        guard var problem = reason, !hasBegunToAnswer else { return context.close(promise: nil) }
        if let exchange = connection.end(with: problem.kind) {
            problem.requestID = exchange.requestID
        } else {
            problem.requestID = RequestID.next()
            observer.noteAnswered(problem)
        }
        arrival.discardRest()
        // Whoever does not read the answer loses it.
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { context.close(promise: nil) }
        let answer = problem.closingAnswer()
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        written.futureResult.assumeIsolated().whenComplete { _ in
            // A refused connection is not counted, so it does not stay.
            if self.refusal == nil { self.hangUp(context) } else { context.close(promise: nil) }
        }
    }
}
