import HTTPTypes
import NIOCore
import NIOHTTPTypes

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
