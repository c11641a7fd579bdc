import NIOCore
import NIOHTTP1
import NIOPosix

/// A collector on a loopback address: it records deliveries, and answers each with the same status.
final class Collector: Sendable {
    struct Delivery: Sendable {
        let head: HTTPRequestHead
        let body: String
        /// The client's port, which identifies the connection.
        let port: Int?
    }

    let deliveries: AsyncStream<Delivery>
    private let channel: any Channel

    /// - Parameter status: the status of every answer.
    init(answering status: HTTPResponseStatus, headers: HTTPHeaders = [:]) async throws {
        let (deliveries, delivered) = AsyncStream<Delivery>.makeStream()
        self.deliveries = deliveries
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(status, headers, delivered))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var endpoint: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/v1/traces" }

    func close() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let status: HTTPResponseStatus
        private let headers: HTTPHeaders
        private let delivered: AsyncStream<Delivery>.Continuation
        private var head: HTTPRequestHead?
        private var body = ""

        init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ delivered: AsyncStream<Delivery>.Continuation) {
            self.status = status
            self.headers = headers
            self.delivered = delivered
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): self.head = head
            case .body(let part): body += String(buffer: part)
            case .end:
                guard let head else { return }
                delivered.yield(Delivery(head: head, body: body, port: context.remoteAddress?.port))
                body = ""
                var headers = headers
                headers.add(name: "Content-Length", value: "2")
                let answer = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
                context.write(wrapOutboundOut(.head(answer)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{}")))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
