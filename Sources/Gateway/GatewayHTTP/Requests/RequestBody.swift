import HTTPTypes
import Hummingbird
import NIOCore
import SigningKit

/// Reads the JSON body of a request, within limits.
enum RequestBody {
    /// Of a request for one signature, in bytes.
    static let maximumLength = 64 << 10

    /// - Parameter reservation: counts the bytes in flight; nil on the admin listener, which limits its connections.
    static func read(
        _ request: Request, upTo limit: Int = maximumLength, _ reservation: BodyReservation? = nil
    ) async throws -> [UInt8] {
        try requireJSON(request.headers[.contentType])
        try requirePlain(request.headers[.contentEncoding])
        var bytes: [UInt8] = []
        // Refuse a Content-Length above the limit before reading the first byte.
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length {
            guard length <= limit else { throw tooLarge(limit) }
            try reservation?.take(length)
            bytes.reserveCapacity(length)
        }
        do {
            for try await part in request.body {
                guard part.readableBytes <= limit - bytes.count else { throw tooLarge(limit) }
                if length == nil { try reservation?.take(part.readableBytes) }
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
