import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Keeps a connection within its bounds: what takes too long, and what cannot be read, is answered with its own status and
/// ends the connection.
///
/// One timer runs for each connection, however many requests it carries: it is set anew only when it has run out.
final class ExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let clock: ExchangeClock
    private let arrival: ArrivalHandler
    private let refusal: Problem?
    private let onTimeout: (ExchangeClock.Phase) -> Void
    private var timer: Scheduled<Void>?
    private var hasBegunToAnswer = false
    private var isEnding = false

    /// - Parameter refusal: what the connection is answered with instead of being served.
    init(
        _ clock: ExchangeClock, _ arrival: ArrivalHandler, refusal: Problem?,
        onTimeout: @escaping (ExchangeClock.Phase) -> Void
    ) {
        self.clock = clock
        self.arrival = arrival
        self.refusal = refusal
        self.onTimeout = onTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
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
        switch unwrapOutboundIn(data) {
        case .head: hasBegunToAnswer = true
        case .body: break
        case .end:
            hasBegunToAnswer = false
            clock.noteAnswerEnd()
        }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        end(context, with: Problem(error, isLineComplete: arrival.isLineComplete))
    }

    // MARK: Time

    private func begin(_ context: ChannelHandlerContext) {
        if let refusal { return end(context, with: refusal) }
        if timer == nil { schedule(context) }
    }

    private func schedule(_ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: clock.deadline) {
            guard self.clock.deadline <= .now() else { return self.schedule(context) }
            self.onTimeout(self.clock.phase)
            self.end(context, with: Problem(overdue: self.clock.phase))
        }
    }

    // MARK: The end

    /// Says why, unless an answer is half out already or there is nobody to tell, and closes the connection.
    private func end(_ context: ChannelHandlerContext, with problem: Problem?) {
        guard !isEnding else { return }
        isEnding = true
        timer?.cancel()
        guard let problem, !hasBegunToAnswer else { return context.close(promise: nil) }
        let answer = problem.closingAnswer()
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }
}
