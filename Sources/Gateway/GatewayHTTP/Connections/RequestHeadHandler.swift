import NIOCore
import NIOHTTP1

/// Refuses requests that the parser accepts but RFC 9112 forbids. Discards input after a connection's last request.
///
/// It is next to the parser, because `HTTPRequest` has neither the version nor every `Host`.
final class RequestHeadHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private enum Phase {
        case open
        /// The connection ends with the answer to this request.
        case last
        case over
    }

    private let acceptHandler: AcceptHandler
    private var phase = Phase.open

    init(_ acceptHandler: AcceptHandler) {
        self.acceptHandler = acceptHandler
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .over else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): check(head, context)
        case .body: context.fireChannelRead(data)
        case .end:
            context.fireChannelRead(data)
            if phase == .last { end() }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Errors after the last request do not matter, because that input is discarded.
        guard phase != .over else { return }
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        end()
        if error == .invalidMethod && acceptHandler.beginsWithMethod || acceptHandler.beginsWithForeignMethod {
            context.fireErrorCaught(RequestHeadFault.unknownMethod)
        } else if error == .invalidContentLength, acceptHandler.hasOverlongContentLength {
            context.fireErrorCaught(RequestHeadFault.contentLength)
        } else {
            context.fireErrorCaught(error)
        }
    }

    private func check(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        if let fault = RequestHeadFault(head) {
            end()
            return context.fireErrorCaught(fault)
        }
        // After a request with `Upgrade`, the parser may stop and keep all further bytes. The gateway supports no
        // upgrade, so it answers the request and closes (RFC 9110 §7.8).
        guard head.isKeepAlive, !head.headers.contains(name: "upgrade") else {
            phase = .last
            var head = head
            head.headers.replaceOrAdd(name: "connection", value: "close")
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func end() {
        phase = .over
        acceptHandler.discardRest()
    }
}
