import HTTPTypes
import NIOCore
import NIOHTTP1
import StrictJSON

/// Answers that a connection sends without a route.
extension Problem {
    /// - Returns: nil if no request awaits an answer.
    init?(overdue phase: RequestTimeouts.Phase) {
        switch phase {
        case .handshake, .idle: return nil
        case .arriving: self.init(.requestTimeout, "The request did not arrive in time; send it again, without pauses.")
        case .answering:
            self.init(.deadlineExceeded, "The answer took too long; try again in a moment.")
            retryAfter = 1
        }
    }

    init(_ error: HTTPParserError, isLineTooLong: Bool) {
        switch error {
        case .headerOverflow where isLineTooLong:
            self.init(.uriTooLong, "The request's path and query are longer than allowed.")
        case .headerOverflow:
            self.init(.headerFieldsTooLarge, "The request's header fields are longer than allowed.")
        default: self.init(.malformedRequest, "The request is not valid HTTP/1.1 (RFC 9112); the connection closes.")
        }
    }

    init(_ fault: RequestHeadFault) {
        switch fault {
        case .hostCount(let count):
            let has = count == 0 ? "no header Host" : "\(count) headers Host"
            self.init(.malformedRequest, "The request has \(has); an HTTP/1.1 request has exactly one (RFC 9112 §3.2).")
        case .invalidHost:
            self.init(.malformedRequest, "The header Host is not a host with an optional port (RFC 9112 §3.2).")
        case .fragment:
            self.init(.malformedRequest, "The request-target has a \"#\"; write %23 where it belongs to a value.")
        case .ambiguousLength:
            self.init(
                .malformedRequest,
                "The end of the body is ambiguous: send either one Content-Length or, in HTTP/1.1, one"
                    + " \"Transfer-Encoding: chunked\" (RFC 9112 §6.1).")
        case .unknownTransferCoding:
            self.init(.notImplemented, "The only supported transfer coding is chunked; send the body as it is.")
        case .contentLength:
            self.init(.bodyTooLarge, "The Content-Length is larger than any body that the gateway accepts.")
        case .connect: self.init(.notImplemented, "The gateway is not a proxy: CONNECT is not implemented.")
        case .unknownMethod:
            self.init(
                .notImplemented, "The gateway does not know this method; docs/http-api.md lists each path's methods.")
        }
    }

    static let incompleteBody = Problem(.malformedBody, "The body is incomplete.")

    static var tooManyConnections: Problem {
        var problem = Problem(.tooManyConnections, "Too many connections are open; try again in a moment.")
        problem.retryAfter = 1
        return problem
    }

    /// - Parameter client: the client whose limit is reached; nil for the limit of all clients together.
    static func tooManyBytes(client: String?) -> Problem {
        let whose = client.map { "The client \($0) has" } ?? "All clients together have"
        var problem = Problem(
            .tooManyBytes, "\(whose) as many bytes of request bodies in flight as allowed; try again in a moment.")
        problem.retryAfter = 1
        return problem
    }

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
