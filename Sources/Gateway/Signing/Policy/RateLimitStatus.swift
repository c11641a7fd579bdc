/// The state of a limit, for the fields `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`
/// (draft-ietf-httpapi-ratelimit-headers-07 §3).
public struct RateLimitStatus: Equatable, Sendable {
    /// In requests: the burst of a rate, or the whole quota.
    public let limit: Int
    /// Requests that would be admitted now.
    public let remaining: Int
    /// Seconds until the whole limit is available again, rounded up.
    public let resetsAfter: Int
}

public enum RateLimitKind: String, CaseIterable, Sendable {
    case rate, quota
}

/// A request or batch that exceeds a limit of the client. Nothing was taken.
public struct RateLimitRefusal: Error, Equatable, Sendable {
    public let kind: RateLimitKind
    /// The state of the exceeded limit.
    public let status: RateLimitStatus
    /// Seconds until the same call may be admitted, rounded up. Nil if it exceeds the whole limit.
    public let retryAfter: Int?
    /// The number of requests in the call.
    public let count: Int
    public let client: String
}

extension RateLimitRefusal: CustomStringConvertible {
    /// The text for the caller.
    public var description: String {
        guard let retryAfter else {
            return "\(count) requests at once exceed the \(name) of the client \(client), which is \(status.limit);"
                + " send at most \(status.limit) at once."
        }
        return "The client \(client) has \(status.remaining) of \(status.limit) requests left of its \(name),"
            + " and \(count) \(count == 1 ? "is" : "are") needed; try again in \(retryAfter) s."
    }

    private var name: String {
        switch kind {
        case .rate: "burst"
        case .quota: "daily quota"
        }
    }
}
