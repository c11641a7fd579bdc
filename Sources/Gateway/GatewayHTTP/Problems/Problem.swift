import HTTPTypes
import Hummingbird
import Signing
import StrictJSON

/// A problem document (RFC 9457), the answer to a request that fails.
struct Problem: Error, Equatable {
    static let mediaType = "application/problem+json"

    /// Stable: programs may depend on it.
    let kind: ProblemKind
    /// The cause of this problem, and its remedy.
    let detail: String
    /// The member or parameter at fault.
    var field: String?
    /// Seconds after which the same request may succeed.
    var retryAfter: Int?
    /// The methods of the path, for 405.
    var allowed: [HTTPRequest.Method] = []
    /// The state of the client's limit, for 429.
    var limit: RateLimitStatus?
    /// The request's ID, set before the problem is sent.
    var requestID: String?

    init(_ kind: ProblemKind, _ detail: String, field: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.field = field
    }

    var status: HTTPResponse.Status { kind.status }

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
