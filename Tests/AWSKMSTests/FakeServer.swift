import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on a loopback address that answers from a closure.
final class FakeServer: Sendable {
    struct Request: Sendable {
        let method: String
        let path: String
        let headers: [String: String]
        let body: String

        /// - Parameter name: in lower case.
        func header(_ name: String) -> String? { headers[name] }
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [(String, String)] = []
        var body = ""
        /// The time until the answer begins.
        var delay = Duration.zero
        /// Whether the connection ends without an answer.
        var isDropped = false
        /// Whether the answer ends after its first bytes, but the connection stays.
        var stalls = false

        static func json(_ body: String, status: Int = 200) -> Answer { Answer(status: status, body: body) }
        static func error(_ code: String, status: Int = 400) -> Answer {
            Answer(status: status, body: #"{"__type":"\#(code)","message":"A sentence of AWS."}"#)
        }
    }

    private let channel: any Channel

    init(_ answer: @escaping @Sendable (Request) -> Answer) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var origin: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    func close() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: @Sendable (Request) -> Answer
        private var head: HTTPRequestHead?
        private var body = ""

        init(_ answer: @escaping @Sendable (Request) -> Answer) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, "")
            case .body(let part): body += String(buffer: part)
            case .end:
                guard let head else { return }
                let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
                let answer = answer(
                    Request(method: head.method.rawValue, path: head.uri, headers: headers, body: body))
                let context = NIOLoopBound(context, eventLoop: context.eventLoop)
                let handler = NIOLoopBound(self, eventLoop: context.value.eventLoop)
                context.value.eventLoop.scheduleTask(in: .nanoseconds(Int64(answer.delay / .nanoseconds(1)))) {
                    handler.value.send(answer, context.value)
                }
            }
        }

        private func send(_ answer: Answer, _ context: ChannelHandlerContext) {
            guard !answer.isDropped else { return context.close(promise: nil) }
            var headers = HTTPHeaders(answer.headers)
            headers.add(name: "Content-Length", value: "\(answer.body.utf8.count)")
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            guard !answer.stalls else {
                let begin = ByteBuffer(string: String(answer.body.prefix(1)))
                return context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(begin))), promise: nil)
            }
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// A list to which several threads add.
final class Log<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
    var count: Int { all.count }
}
