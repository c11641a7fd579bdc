import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
public import NIOSSL

/// An HTTP client for a gateway's public listener.
public struct LoadTarget: Sendable {
    public struct Answer: Sendable {
        public let status: Int
        public let body: [UInt8]
    }

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
        guard let base = Self.base(address) else { return nil }
        self.address = address
        self.base = base
        self.token = token
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: connections))
        configuration.timeout = .init(connect: .seconds(5))
        configuration.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// The owner must call this after the last request.
    public func close() async {
        try? await client.shutdown()
    }

    private static func base(_ address: String) -> String? {
        var base: String? = address
        if address.hasPrefix("unix:") {
            base = URL(httpURLWithSocketPath: String(address.dropFirst("unix:".count)))?.absoluteString
        } else if !address.hasPrefix("http://"), !address.hasPrefix("https://") {
            return nil
        }
        while base?.hasSuffix("/") == true { base?.removeLast() }
        return base
    }

    // MARK: Requests

    func send(_ request: LoadRequest) async throws -> Answer { try await ask(request.path, body: request.body) }

    public func get(_ path: String) async throws -> Answer { try await ask(path, body: nil) }

    private func ask(_ path: String, body: [UInt8]?) async throws -> Answer {
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
        return Answer(status: Int(answer.status.code), body: Array(content.readableBytesView))
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
