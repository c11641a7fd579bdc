import GatewayConfiguration
import HTTPTypes
import HummingbirdCore
import NIOCore
import SigningKit
import Synchronization

/// Reads the JSON body of a request, within limits.
enum RequestBody {
    /// Of a request for one signature, in bytes.
    static let maximumLength = 64 << 10

    /// - Parameter reserve: counts the bytes in flight before they are read. The admin listener limits its connections
    ///   instead.
    static func read(
        _ request: Request, upTo limit: Int = maximumLength,
        reserve: (Int) throws(Problem) -> Void = { _ throws(Problem) in }
    ) async throws -> [UInt8] {
        try requireJSON(request.headers[.contentType])
        try requirePlain(request.headers[.contentEncoding])
        var bytes: [UInt8] = []
        // Refuse a Content-Length above the limit before reading the first byte.
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length {
            guard length <= limit else { throw tooLarge(limit) }
            try reserve(length)
            bytes.reserveCapacity(length)
        }
        do {
            for try await part in request.body {
                guard part.readableBytes <= limit - bytes.count else { throw tooLarge(limit) }
                if length == nil { try reserve(part.readableBytes) }
                bytes += part.readableBytesView
            }
            return bytes
        } catch {
            // The connection may know why the body is incomplete.
            throw error as? Problem ?? .incompleteBody
        }
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.bodyTooLarge, "A body may have at most \(limit) bytes here.")
    }

    /// Codings such as gzip (RFC 9110 §8.4) are not supported.
    private static func requirePlain(_ contentEncoding: String?) throws {
        guard let contentEncoding, !contentEncoding.utf8.equalsIgnoringASCIICase("identity") else { return }
        throw Problem(
            .unsupportedMediaType,
            "The header Content-Encoding is \"\(contentEncoding)\"; send the body as it is, without the header.")
    }

    /// `application/json` with any parameters (RFC 9110 §8.3.1).
    private static func requireJSON(_ contentType: String?) throws {
        if contentType == "application/json" { return }
        let mediaType = contentType?.utf8.prefix { $0 != UInt8(ascii: ";") }
            .filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard mediaType?.equalsIgnoringASCIICase("application/json") == true else {
            let found = contentType.map { "is \"\($0)\"" } ?? "is missing"
            throw Problem(.unsupportedMediaType, "The header Content-Type \(found); it must be application/json.")
        }
    }
}

/// The bytes of request bodies in flight, from their arrival to the answer.
final class BodyBudget: Sendable {
    private struct State {
        var total = 0
        var clients: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// - Throws: `too-many-bytes`; nothing is reserved then.
    func take(_ count: Int, for client: String, within bounds: GatewayConfiguration.Limits) throws(Problem) {
        try state.withLock { state throws(Problem) in
            let own = state.clients[client, default: 0]
            guard count <= bounds.clientBodyBytes - own else { throw .tooManyBytes(client: client) }
            guard count <= bounds.totalBodyBytes - state.total else { throw .tooManyBytes(client: nil) }
            state.clients[client] = own + count
            state.total += count
        }
    }

    func release(_ count: Int, for client: String) {
        state.withLock { state in
            state.total -= count
            let rest = state.clients[client, default: 0] - count
            state.clients[client] = rest > 0 ? rest : nil
        }
    }

    var total: Int { state.withLock { $0.total } }
}
