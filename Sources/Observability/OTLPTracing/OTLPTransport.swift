import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Sends deliveries to a collector.
public protocol OTLPTransport: Sendable {
    /// The collector's address for log lines, without user name and password.
    var destination: String { get }

    /// Sends one delivery, JSON in UTF-8. The time is bounded.
    func post(_ body: [UInt8]) async throws(DeliveryProblem)

    /// Ends the transport. Later deliveries fail.
    func close() async
}

/// Why a delivery fails.
public enum DeliveryProblem: Error, Equatable {
    /// No listener, an unknown name, or a TLS failure, as text for people.
    case unreachable(String)
    case timedOut
    /// A status that is not 2xx. The duration is that of `Retry-After`, if it is a number of seconds.
    case status(Int, retryAfter: Duration?)

    /// Whether a retry may succeed (OTLP/HTTP, "Retryable Response Codes").
    var isRetryable: Bool {
        switch self {
        case .unreachable, .timedOut: true
        case .status(let status, _): [429, 502, 503, 504].contains(status)
        }
    }

    var retryAfter: Duration? {
        if case .status(_, let duration) = self { duration } else { nil }
    }

    /// The rest of a sentence that begins with the endpoint. Problems with equal summaries in a row are logged once.
    var summary: String {
        switch self {
        case .unreachable: "cannot be reached"
        case .timedOut: "does not answer in time"
        case .status(let status, _): "answers \(status)"
        }
    }
}

/// OTLP/HTTP: one POST for each delivery, over a persistent connection.
public final class OTLPHTTPTransport: OTLPTransport {
    public let destination: String
    private let endpoint: String
    private let client = Mutex(Client.unused)

    private enum Client {
        case unused
        case live(HTTPClient)
        case closed
    }

    private static let connectTimeout = TimeAmount.seconds(3)
    /// The limit for one delivery, from the first byte to the response.
    private static let timeout = TimeAmount.seconds(10)
    /// The limit of a response body. The body is read only so that the connection can be reused.
    private static let longestAnswer = 64 * 1024

    /// - Parameter endpoint: an http or https URL with its path, such as `http://127.0.0.1:4318/v1/traces`.
    public init(endpoint: String) {
        self.endpoint = endpoint
        destination = Self.withoutUser(endpoint)
    }

    public func post(_ body: [UInt8]) async throws(DeliveryProblem) {
        guard let client = openClient() else { throw .unreachable("the program is shutting down") }
        var request = HTTPClientRequest(url: endpoint)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "privyseal")
        request.body = .bytes(ByteBuffer(bytes: body))
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: Self.timeout)
        } catch let error as HTTPClientError where Self.timeouts.contains(error) {
            throw .timedOut
        } catch {
            throw .unreachable("\(error)")
        }
        _ = try? await response.body.collect(upTo: Self.longestAnswer)
        guard (200..<300).contains(response.status.code) else {
            let seconds = response.headers.first(name: "Retry-After").flatMap { UInt16($0) }
            throw .status(Int(response.status.code), retryAfter: seconds.map { .seconds(Int($0)) })
        }
    }

    public func close() async {
        let last = client.withLock { client in
            defer { client = .closed }
            guard case .live(let last) = client else { return nil as HTTPClient? }
            return last
        }
        try? await last?.shutdown()
    }

    /// Creates the client at first use, because an existing client must be shut down.
    private func openClient() -> HTTPClient? {
        client.withLock { client in
            switch client {
            case .closed: return nil
            case .live(let live): return live
            case .unused:
                let live = HTTPClient(
                    eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: Self.configuration)
                client = .live(live)
                return live
            }
        }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: connectTimeout, read: timeout),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The exporter retries itself, so a retry in the client gains nothing.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The client would make a span for each of its requests, so each delivery would cause another one.
        configuration.tracing.tracer = nil
        return configuration
    }

    private static let timeouts: [HTTPClientError] = [.deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout]

    /// Removes `user:password@` from a URL.
    private static func withoutUser(_ endpoint: String) -> String {
        guard let scheme = endpoint.firstRange(of: "://") else { return endpoint }
        let authority = endpoint[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return endpoint }
        return "\(endpoint[..<scheme.upperBound])\(endpoint[endpoint.index(after: at)...])"
    }
}
