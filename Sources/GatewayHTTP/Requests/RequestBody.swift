import HTTPTypes
import Hummingbird
import NIOCore

/// The body of a request, as JSON and within bounds.
enum RequestBody {
    /// Of a single request, in bytes.
    static let maximumLength = 64 << 10

    /// - Parameter limit: in bytes.
    static func read(_ request: Request, upTo limit: Int = maximumLength) async throws -> [UInt8] {
        try requireJSON(request.headers[.contentType])
        // A length that is said to be too large is refused before the first byte is read.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw tooLarge(limit)
        }
        do {
            let buffer = try await request.body.collect(upTo: limit)
            return Array(buffer.readableBytesView)
        } catch let error as any HTTPResponseError where error.status == .contentTooLarge {
            throw tooLarge(limit)
        } catch {
            // Why it did not arrive whole, where the connection knows.
            throw error as? Problem ?? .incompleteBody
        }
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.bodyTooLarge, "A body may have at most \(limit) bytes here.")
    }

    /// `application/json`, with whatever parameters (RFC 9110 §8.3.1).
    private static func requireJSON(_ contentType: String?) throws {
        if contentType == "application/json" { return }
        let mediaType = contentType?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard mediaType == "application/json" else {
            let found = contentType.map { "is \"\($0)\"" } ?? "is missing"
            throw Problem(.unsupportedMediaType, "The header Content-Type \(found); it must be application/json.")
        }
    }
}
