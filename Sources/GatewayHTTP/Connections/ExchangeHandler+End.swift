import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// How a connection ends.
extension ExchangeHandler {
    /// Time for a request that is on its way when a connection is retired.
    static let ordinaryQuiet = TimeAmount.milliseconds(500)

    /// Time for the peer to close too, and for a handshake that began before the trust roots changed.
    private static let patience = TimeAmount.seconds(1)

    /// The next answer says `Connection: close`, and the connection ends behind it. If no request comes, it ends soon.
    func retire(_ context: ChannelHandlerContext, after time: TimeAmount = ordinaryQuiet) {
        guard !isEnding else { return }
        isRetiring = true
        quiet = min(quiet, time)
        lastRequestDeadline = min(lastRequestDeadline ?? .distantFuture, .now() + time)
        closeIfIdle(context, after: quiet)
    }

    /// A connection whose last answer is not sent whole is not idle; `noteFlushed` calls this method again.
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

    /// Compares the certificate here, on the event loop: it cannot arrive in between. A connection whose certificate is not
    /// trusted any more gets no further request answered.
    func obey(_ change: TrustChange, _ context: ChannelHandlerContext) {
        if clock.phase == .handshake {
            // Its certificate has not come yet, and is compared when it comes. An ordinary handshake is over by then.
            handshakeEnd?.cancel()
            handshakeEnd = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
                if self.clock.phase == .handshake { context.close(promise: nil) }
            }
        } else if change.hasLostCertificate || !change.identity.trusts(connection.knownPeer.certificate) {
            connection.forgetCertificate()
            hasLastRequest = hasLastRequest || clock.isAnswering || clock.isReceivingBody
            // The client has not read all of the last answer.
            if clock.phase == .idle, unflushed > 0 { hangUp(context) } else { retire(context, after: .zero) }
        } else {
            connection.renewIssuers(by: change.identity)
        }
    }

    // MARK: The last answer

    /// Counts an answer as not sent until its last byte has left the channel.
    ///
    /// - Returns: the promise for the write of the answer's end.
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

    /// Ends the connection behind the answers that the channel still holds.
    func hangUp(_ context: ChannelHandlerContext) {
        isEnding = true
        stop()
        arrival.discardRest()
        if unflushed > 0 { close(context, in: readTimeout) } else { closeOutput(context) }
    }

    /// Closes for writing, and entirely when the peer has closed too or a moment later. To close at once would reset the
    /// connection if anything is unread, and the peer could lose the answer (RFC 9112 §9.6).
    private func closeOutput(_ context: ChannelHandlerContext) {
        // A refused connection is not counted, so it does not stay.
        guard refusal == nil else { return context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        close(context, in: Self.patience)
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }

    /// Says why, unless an answer is half out already or the client has closed its end, and closes the connection.
    func end(_ context: ChannelHandlerContext, with reason: Problem?) {
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
        // A client that does not read the answer loses it. Answers before it keep their time.
        close(context, in: unflushed > 0 ? readTimeout : Self.patience)
        let answer = problem.closingAnswer()
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: flushPromise(context, cascadingTo: nil))
    }
}
