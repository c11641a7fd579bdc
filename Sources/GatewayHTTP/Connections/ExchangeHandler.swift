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
    private let observer: any ConnectionObserver
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?
    private var hasBegunToAnswer = false
    /// What is to be said when all that came before has been answered.
    private var last: Problem?
    /// Whether the body of the last request will not come whole.
    private var isCutOff = false
    private var isEnding = false

    /// - Parameter refusal: what the connection is answered with instead of being served.
    init(
        _ clock: ExchangeClock, _ arrival: ArrivalHandler, _ connection: Connection, refusal: Problem?,
        observer: any ConnectionObserver
    ) {
        self.clock = clock
        self.arrival = arrival
        self.connection = connection
        self.refusal = refusal
        self.observer = observer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        clock.onChange = { self.keepTime(context) }
        if context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        cutOff(context, because: .incompleteBody)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding, !isCutOff, last == nil else { return }
        switch unwrapInboundIn(data) {
        case .head: clock.noteHead()
        case .body: break
        case .end: clock.noteRequestEnd()
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
            if isCutOff, clock.isAnsweringLast {
                head.headerFields[.connection] = "close"
                data = wrapOutboundOut(.head(head))
            }
        case .body: break
        case .end:
            hasBegunToAnswer = false
            clock.noteAnswerEnd()
        }
        context.write(data, promise: promise)
        if let last, !clock.isAnswering { end(context, with: last) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else {
            if clock.phase == .handshake, !isEnding { observer.noteFailedHandshake(error) }
            return context.fireErrorCaught(error)
        }
        let problem = Problem(error, isLineTooLong: arrival.isLineTooLong)
        if clock.isReceivingBody {
            return cutOff(context, because: error == .invalidEOFState ? .incompleteBody : problem)
        }
        // What cannot be read came behind requests that could: those are answered first.
        if clock.isAnswering { last = problem } else { end(context, with: problem) }
    }

    // MARK: Time

    private func begin(_ context: ChannelHandlerContext) {
        guard let refusal else { return keepTime(context) }
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
        clock.onChange = nil
    }

    // MARK: The end

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
        // Whoever does not read the answer loses it.
        let patience = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            context.close(promise: nil)
        }
        let answer = problem.closingAnswer()
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        written.futureResult.assumeIsolated().whenComplete { _ in
            patience.cancel()
            context.close(promise: nil)
        }
    }
}
