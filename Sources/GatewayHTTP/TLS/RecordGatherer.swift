import NIOCore

/// Puts what an answer is made of, its head and its body, into one piece before TLS sees it: each piece becomes a record
/// of its own, and sealing a small one costs about as much as sealing a large one.
final class RecordGatherer: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// In bytes, of a record (RFC 8446 §5.1); what is larger goes as it came.
    private static let limit = 16_384

    private var gathered: ByteBuffer?
    private var promise: EventLoopPromise<Void>?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var piece) = unwrapOutboundIn(data), piece.readableBytes <= Self.limit else {
            pass(context)
            return context.write(data, promise: promise)
        }
        if let promise { note(promise) }
        guard gathered != nil else {
            gathered = piece
            return
        }
        gathered?.writeBuffer(&piece)
        if let count = gathered?.readableBytes, count > Self.limit { pass(context) }
    }

    func flush(context: ChannelHandlerContext) {
        pass(context)
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        pass(context)
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise?.fail(ChannelError.ioOnClosedChannel)
        promise = nil
        gathered = nil
    }

    private func pass(_ context: ChannelHandlerContext) {
        guard let piece = gathered.take() else { return }
        context.write(wrapOutboundOut(.byteBuffer(piece)), promise: promise.take())
    }

    /// The first one stands for all that follow.
    private func note(_ other: EventLoopPromise<Void>) {
        guard let promise else {
            promise = other
            return
        }
        promise.futureResult.cascade(to: other)
    }
}
