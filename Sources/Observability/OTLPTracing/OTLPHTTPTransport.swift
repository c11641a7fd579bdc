import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// OTLP/HTTP: one POST for each delivery, over a persistent connection.
public struct OTLPHTTPTransport: OTLPTransport {
    public let destination: String
    private let endpoint: String

    /// Made by the first delivery. It lives until the process ends, because an `HTTPClient` must not be released unless
    /// it is shut down.
    private static let client = HTTPClient(
        eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)

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
        var request = HTTPClientRequest(url: endpoint)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "privyseal")
        request.body = .bytes(ByteBuffer(bytes: body))
        let response: HTTPClientResponse
        do {
            response = try await Self.client.execute(request, timeout: Self.timeout)
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
