import HTTPTypes
import NIOCore
import NIOHTTP1
import StrictJSON

/// What is answered below the routes, by the connection itself.
extension Problem {
    /// - Returns: nil where nobody waits for an answer.
    init?(overdue phase: ExchangeClock.Phase) {
        switch phase {
        case .handshake, .idle: return nil
        case .arriving: self.init(.requestTimeout, "The request did not arrive whole in time; send it again, at once.")
        case .answering:
            self.init(.deadlineExceeded, "The answer took too long; ask again in a moment.")
            retryAfter = 1
        }
    }

    init(_ error: HTTPParserError, isLineTooLong: Bool) {
        switch error {
        case .headerOverflow where isLineTooLong:
            self.init(.uriTooLong, "The request's path and query are longer than may be.")
        case .headerOverflow:
            self.init(.headerFieldsTooLarge, "The request's header fields are longer than may be.")
        default: self.init(.malformedRequest, "This is not HTTP/1.1 as RFC 9112 has it; the connection ends.")
        }
    }

    static let incompleteBody = Problem(.malformedBody, "The body did not arrive whole.")

    static var tooManyConnections: Problem {
        var problem = Problem(.tooManyConnections, "As many connections as may be are open; try again in a moment.")
        problem.retryAfter = 1
        return problem
    }

    /// The last answer of a connection.
    func closingAnswer() -> (head: HTTPResponse, body: ByteBuffer) {
        let body = ByteBuffer(bytes: jsonBytes())
        var fields = headerFields
        fields[.requestID] = requestID
        fields[.contentType] = Self.mediaType
        fields[.cacheControl] = "no-store"
        fields[.contentLength] = String(body.readableBytes)
        fields[.connection] = "close"
        return (HTTPResponse(status: status, headerFields: fields), body)
    }
}
