import NIOCore

/// Joins the head and the body of an answer into one buffer before TLS. Each buffer becomes a TLS record, and
/// encrypting a small record costs about as much as a large one.
final class RecordGatherer: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Bytes of a TLS record (RFC 8446 §5.1). Larger buffers pass unchanged.
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

    /// The first promise completes all later ones.
    private func note(_ other: EventLoopPromise<Void>) {
        guard let promise else {
            promise = other
            return
        }
        promise.futureResult.cascade(to: other)
    }
}
