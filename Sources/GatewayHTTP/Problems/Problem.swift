import HTTPTypes
import Hummingbird
import SigningGateway
import StrictJSON

/// A problem document (RFC 9457): what a caller gets instead of a signature.
struct Problem: Error, Equatable {
    static let mediaType = "application/problem+json"

    /// What kind of problem it is. Stable: programs may decide by it.
    let kind: ProblemKind
    /// What is wrong this time, and what would cure it.
    let detail: String
    /// The member or parameter that is at fault.
    var field: String?
    /// Seconds after which the same request may succeed.
    var retryAfter: Int?
    /// The methods that the path does have, for 405.
    var allowed: [HTTPRequest.Method] = []
    /// How the client's limit stands, for 429.
    var limit: RateLimitStatus?
    /// Of the request that is answered; nil where none was understood.
    var requestID: String?

    init(_ kind: ProblemKind, _ detail: String, field: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.field = field
    }

    var status: HTTPResponse.Status { kind.status }

    /// What goes into the answer's header.
    var headerFields: HTTPFields {
        var fields = HTTPFields()
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
        if !allowed.isEmpty { fields[.allow] = allowed.map(\.rawValue).joined(separator: ", ") }
        if let limit { fields.set(limit) }
        // RFC 6750 §3.
        if kind == .unauthenticated { fields[.wwwAuthenticate] = #"Bearer realm="privyseal""# }
        return fields
    }

    var response: Response { .json(jsonBytes(), as: Self.mediaType, status: status, headers: headerFields) }
}

extension Problem: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", kind.type)
            writer.member("title", kind.title)
            writer.member("status", status.code)
            writer.member("detail", detail)
            if let field { writer.member("field", field) }
            if let requestID { writer.member("requestId", requestID) }
        }
    }
}
