import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Sends single HTTP requests over a pool of connections. Time and size of each answer are limited.
final class HTTPTransport: Sendable {
    private let client: HTTPClient

    /// In bytes. The longest answers have an import token and an RSA key, about 10 KiB.
    private static let longestAnswer = 64 << 10
    /// Shorter than the time after which AWS closes an idle connection.
    private static let idleTime = TimeAmount.seconds(15)

    /// - Parameters:
    ///   - connections: to one server. Further requests wait for a connection.
    ///   - timeout: for a connection. Each request has a deadline of its own.
    init(connections: Int, timeout: Duration) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(timeout)), decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool = .init(
            idleTimeout: Self.idleTime, concurrentHTTP1ConnectionsPerHostSoftLimit: connections)
        // The caller retries, within its own deadline.
        configuration.connectionPool.retryConnectionEstablishment = false
        // No header with a trace context leaves the gateway.
        configuration.tracing.tracer = nil
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// An `HTTPClient` must be shut down before it is released.
    deinit { client.shutdown { _ in } }

    /// Closes the connections. Later requests fail.
    func close() async { try? await client.shutdown() }

    /// Returns after the last byte of the answer, which may have any status.
    func send(_ request: HTTPRequest, by deadline: ContinuousClock.Instant) async throws(HTTPProblem) -> HTTPAnswer {
        guard deadline > .now else { throw .timedOut }
        do {
            let answer = try await client.execute(
                request.clientRequest, deadline: .now() + TimeAmount(deadline - .now))
            return HTTPAnswer(
                status: Int(answer.status.code), headers: answer.headers, body: try await body(of: answer, by: deadline)
            )
        } catch is NIOTooManyBytesError {
            throw .tooLong(Self.longestAnswer)
        } catch {
            throw HTTPProblem(error)
        }
    }

    /// The client's own deadline ends with the header.
    private func body(of answer: HTTPClientResponse, by deadline: ContinuousClock.Instant) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { Array(try await answer.body.collect(upTo: Self.longestAnswer).readableBytesView) }
            group.addTask {
                try await Task.sleep(until: deadline)
                return nil
            }
            defer { group.cancelAll() }
            guard let body = try await group.next() ?? nil else { throw HTTPProblem.timedOut }
            return body
        }
    }
}

struct HTTPRequest: Sendable {
    enum Method: Sendable {
        case get, put, post
    }

    var method: Method
    var address: HTTPAddress
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    init(
        _ method: Method, _ address: HTTPAddress, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        (self.method, self.address, self.headers, self.body) = (method, address, headers, body)
    }

    fileprivate var clientRequest: HTTPClientRequest {
        var request = HTTPClientRequest(url: address.text)
        request.method =
            switch method {
            case .get: .GET
            case .put: .PUT
            case .post: .POST
            }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !request.headers.contains(name: "Host") { request.headers.add(name: "Host", value: address.authority) }
        request.headers.add(name: "User-Agent", value: "privyseal")
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        return request
    }
}

struct HTTPAnswer: Sendable {
    var status: Int
    fileprivate var headers: HTTPHeaders
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first(name: name) }
}

/// Why there is no answer.
enum HTTPProblem: Error, Equatable {
    case timedOut
    /// All connections were in use for the whole time.
    case noConnection
    /// No listener, an unknown name, a TLS failure or a broken connection, as text for people.
    case unreachable(String)
    /// The limit in bytes.
    case tooLong(Int)
    case cancelled

    fileprivate init(_ error: any Error) {
        switch error {
        case let problem as HTTPProblem: self = problem
        case is CancellationError: self = .cancelled
        case let error as HTTPClientError:
            switch error {
            case .cancelled: self = .cancelled
            case .getConnectionFromPoolTimeout: self = .noConnection
            case .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout: self = .timedOut
            default: self = .unreachable(error.description)
            }
        default: self = .unreachable("\(error)")
        }
    }

    /// The rest of a sentence that begins with the server's name.
    var summary: String {
        switch self {
        case .timedOut: "does not answer in time"
        case .noConnection: "has too many requests in progress"
        case .unreachable(let reason): "cannot be reached (\(String(reason.unicodeScalars.prefix(200))))"
        case .tooLong(let limit): "answers with more than \(limit) bytes"
        case .cancelled: "was not asked, because the request was cancelled"
        }
    }
}
