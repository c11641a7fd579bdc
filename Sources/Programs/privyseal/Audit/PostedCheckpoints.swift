import AsyncHTTPClient
import AuditLog
import Foundation
import NIOCore
import NIOHTTP1

/// Sends checkpoints as HTTP requests, to a machine that other administrators control.
struct PostedCheckpoints: CheckpointDestination {
    var name: String { "url" }
    private let url: String
    private let tokenFile: String?

    private static let timeout = TimeAmount.seconds(10)

    init(to url: String, tokenFile: String?) {
        self.url = url
        self.tokenFile = tokenFile
    }

    func send(_ note: String) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        // Read it each time, because the token may be replaced.
        if let tokenFile { request.headers.add(name: "Authorization", value: "Bearer \(try token(tokenFile))") }
        request.body = .bytes(ByteBuffer(string: note))
        let answer = try await status(of: request)
        guard (200..<300).contains(answer) else {
            throw AuditSetupError("\(url) answered \(answer)")
        }
    }

    /// A redirection counts as a failure: the request that follows it would not contain the checkpoint.
    private func status(of request: HTTPClientRequest) async throws -> UInt {
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
        do {
            let status = try await client.execute(request, timeout: Self.timeout).status.code
            try await client.shutdown()
            return status
        } catch {
            try? await client.shutdown()
            throw AuditSetupError("\(url) did not answer: \(Self.reason(for: error))")
        }
    }

    private static func reason(for error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: "\(error)"
        }
    }

    private func token(_ path: String) throws -> String {
        let token = try EvidenceFile.token(in: path)
        // The HTTP client's error for an invalid header would contain the token.
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw AuditSetupError("the token in \(path) is not one line of visible ASCII characters")
        }
        return token
    }
}
