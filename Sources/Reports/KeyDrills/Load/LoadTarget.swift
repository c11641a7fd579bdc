import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
public import NIOSSL

/// An HTTP client for a gateway's public listener.
public struct LoadTarget: Sendable {
    /// `unix:/path`, or a URL without a path.
    public let address: String
    private let base: String
    private let token: String?
    private let client: HTTPClient

    /// In bytes. An answer has a few hundred.
    private static let bodyLimit = 1 << 20

    /// - Parameters:
    ///   - token: The client's bearer token; nil for a gateway that allows anonymous clients.
    ///   - tls: The settings for an `https:` URL.
    /// - Returns: Nil if the address is neither a Unix socket nor a URL.
    public init?(_ address: String, token: String?, tls: TLSConfiguration?, connections: Int) {
        var base: String? = address
        if address.hasPrefix("unix:") {
            base = URL(httpURLWithSocketPath: String(address.dropFirst("unix:".count)))?.absoluteString
        } else if !address.hasPrefix("http://"), !address.hasPrefix("https://") {
            return nil
        }
        while base?.hasSuffix("/") == true { base?.removeLast() }
        guard let base else { return nil }
        self.address = address
        self.base = base
        self.token = token
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: connections))
        configuration.timeout = .init(connect: .seconds(5), read: .seconds(10))
        configuration.httpVersion = .http1Only
        // A drill counts each request that an app would have lost.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// The owner must call this after the last request.
    public func close() async { try? await client.shutdown() }

    // MARK: Requests

    /// - Parameter body: JSON; nil for a `GET` request.
    func ask(_ path: String, body: [UInt8]? = nil) async throws -> (status: Int, body: [UInt8]) {
        var request = HTTPClientRequest(url: base + path)
        // Over a Unix socket, AsyncHTTPClient sends no Host, which HTTP/1.1 requires (RFC 9112 §3.2).
        if address.hasPrefix("unix:") { request.headers.add(name: "Host", value: "localhost") }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let answer = try await client.execute(request, timeout: .seconds(10))
        let content = try await answer.body.collect(upTo: Self.bodyLimit)
        return (Int(answer.status.code), Array(content.readableBytesView))
    }

    /// A short reason for a missing answer.
    static func reason(_ error: any Error) -> String {
        switch error as? HTTPClientError {
        case .connectTimeout?, .deadlineExceeded?, .readTimeout?: "no answer in time"
        case .remoteConnectionClosed?: "connection closed"
        default: "no connection"
        }
    }
}
