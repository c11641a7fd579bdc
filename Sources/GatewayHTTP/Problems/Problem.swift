import HTTPTypes
import Hummingbird
import StrictJSON

/// A problem document (RFC 9457): what a caller gets instead of a signature.
struct Problem: HTTPResponseError, Equatable {
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

    init(_ kind: ProblemKind, _ detail: String, field: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.field = field
    }

    var status: HTTPResponse.Status { kind.status }

    func response(from request: Request, context: some RequestContext) -> Response {
        var headers = HTTPFields()
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if !allowed.isEmpty { headers[.allow] = allowed.map(\.rawValue).joined(separator: ", ") }
        return .json(jsonBytes(), as: "application/problem+json", status: status, headers: headers)
    }
}

extension Problem: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", kind.type)
            writer.member("title", kind.title)
            writer.member("status", status.code)
            writer.member("detail", detail)
            if let field { writer.member("field", field) }
        }
    }
}
