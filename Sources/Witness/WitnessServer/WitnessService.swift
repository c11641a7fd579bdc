import HTTPTypes
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOHTTPTypes
import NIOPosix
public import NIOSSL
public import ServiceLifecycle
public import SigningKit
import TransparencyLog

/// Serves a witness over HTTP (C2SP tlog-witness, "HTTP Interface"). Submission and monitoring prefix are the same.
public struct WitnessService: Service {
    private let witness: Witness
    private let host: String
    private let port: Int
    private let tls: TLSConfiguration?
    private let now: @Sendable () -> Timestamp
    private let onRunning: @Sendable (_ port: Int) -> Void
    /// One thread: the checkpoints of a log must be compared and stored one after the other.
    private let thread = NIOThreadPool(numberOfThreads: 1)

    private static let maximumConnections = 256
    private static let requestTimeout = TimeAmount.seconds(10)
    private static let idleTimeout = TimeAmount.seconds(30)
    /// The largest request, in bytes: 63 hashes, and a checkpoint with its signatures.
    private static let requestLimit = 1 << 17

    /// - Parameters:
    ///   - tls: nil for plain HTTP.
    ///   - onRunning: called when the service accepts connections.
    public init(
        _ witness: Witness, host: String, port: Int, tls: TLSConfiguration? = nil,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now, onRunning: @escaping @Sendable (_ port: Int) -> Void
    ) {
        (self.witness, self.host, self.port, self.tls) = (witness, host, port, tls)
        (self.now, self.onRunning) = (now, onRunning)
    }

    public func run() async throws {
        thread.start()
        let base = HTTP1Channel(
            responder: { request, writer, _ in
                let response = await respond(to: request)
                try await writer.write(response: response.head, body: response.body)
            },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestTimeout(Self.requestTimeout)], idleTimeout: Self.idleTimeout))
        if let tls {
            try await serve(try TLSChannel(base, tlsConfiguration: tls))
        } else {
            try await serve(base)
        }
        try await thread.shutdownGracefully()
    }

    private func serve(_ channel: some ServerChildChannel) async throws {
        var logger = Logger(label: "privyseal.witness.http")
        logger.logLevel = .notice
        let connections = MaximumAvailableConnections(Self.maximumConnections)
        try await channel.server(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port), availableConnectionsDelegate: connections),
            onServerRunning: { [onRunning, port] in onRunning($0.localAddress?.port ?? port) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger
        ).run()
    }

    // MARK: Requests

    func respond(to request: Request) async -> Response {
        let segments = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        switch (request.method, Array(segments)) {
        case (.post, ["add-checkpoint"]): return await add(request)
        case (.get, let path) where path.count == 2 && path[1] == "checkpoint": return await latest(String(path[0]))
        case (_, ["add-checkpoint"]): return Self.text(.methodNotAllowed, "Use POST.")
        default:
            return Self.text(
                .notFound, "This is a witness: POST /add-checkpoint, or GET /<SHA-256 of a log's origin>/checkpoint.")
        }
    }

    private func add(_ request: Request) async -> Response {
        guard let body = try? await request.body.collect(upTo: Self.requestLimit) else {
            return Self.text(.contentTooLarge, "The request has more than \(Self.requestLimit) bytes.")
        }
        let bytes = Array(body.readableBytesView)
        let time = UInt64(clamping: now().seconds)
        guard let answer = try? await thread.runIfActive({ [witness] in witness.add(bytes, at: time) }) else {
            return Self.text(.serviceUnavailable, "The witness is ending.")
        }
        return switch answer {
        case .cosigned(let signature): Self.text(.ok, signature.line)
        case .malformed(let sentence): Self.text(.badRequest, sentence)
        case .untrusted(let sentence): Self.text(.forbidden, sentence)
        case .unknownLog(let sentence): Self.text(.notFound, sentence)
        case .conflict(let size): Self.text(.conflict, "\(size)", type: AddCheckpointRequest.sizeType)
        case .fork(let sentence), .unproved(let sentence): Self.text(.unprocessableContent, sentence)
        case .unavailable(let sentence): Self.text(.internalServerError, sentence)
        }
    }

    private func latest(_ hash: String) async -> Response {
        do {
            guard let note = try await thread.runIfActive({ [witness] in try witness.latest(originHash: hash) }) else {
                return Self.text(.notFound, "This witness has cosigned no checkpoint of such a log.")
            }
            return Self.text(.ok, note)
        } catch {
            return Self.text(.internalServerError, "The checkpoint cannot be read.")
        }
    }

    private static func text(
        _ status: HTTPResponse.Status, _ text: String, type: String = "text/plain; charset=utf-8"
    ) -> Response {
        let body = ByteBuffer(string: text.hasSuffix("\n") ? text : text + "\n")
        return Response(
            status: status, headers: [.contentType: type, .contentLength: "\(body.readableBytes)"],
            body: ResponseBody(byteBuffer: body))
    }
}
