import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

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

    public func post(_ body: [UInt8]) async throws(OTLPTransportError) -> OTLPAnswer {
        guard let client = openClient() else { throw .unreachable("the program is shutting down") }
        var request = HTTPClientRequest(url: endpoint)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "privyseal")
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            _ = try? await response.body.collect(upTo: Self.longestAnswer)
            let seconds = response.headers.first(name: "Retry-After").flatMap { UInt16($0) }
            return OTLPAnswer(status: Int(response.status.code), retryAfter: seconds.map { .seconds(Int($0)) })
        } catch let error as HTTPClientError where Self.timeouts.contains(error) {
            throw .timedOut
        } catch {
            throw .unreachable("\(error)")
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
