/// How a limit stands: what `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` say
/// (draft-ietf-httpapi-ratelimit-headers-07 §3).
public struct RateLimitStatus: Equatable, Sendable {
    /// Requests: the burst of a rate, or the whole of a quota.
    public let limit: Int
    /// Requests that would be admitted now.
    public let remaining: Int
    /// In seconds, rounded up: until all of the limit is there again.
    public let resetsAfter: Int

    public init(limit: Int, remaining: Int, resetsAfter: Int) {
        self.limit = limit
        self.remaining = remaining
        self.resetsAfter = resetsAfter
    }
}

/// Which of a client's limits.
public enum RateLimitKind: String, CaseIterable, Sendable {
    case rate, quota
}

/// A request, or a batch of them, for which a client's limit leaves no room. Nothing was taken.
public struct RateLimitRefusal: Error, Equatable, Sendable {
    public let kind: RateLimitKind
    /// How the limit stands that refused.
    public let status: RateLimitStatus
    /// In seconds, rounded up: when the same may be admitted. Nil when it never will: it is more than the limit.
    public let retryAfter: Int?
    /// Requests that were asked for at once.
    public let count: Int
    public let client: String

    public init(kind: RateLimitKind, status: RateLimitStatus, retryAfter: Int?, count: Int, client: String) {
        self.kind = kind
        self.status = status
        self.retryAfter = retryAfter
        self.count = count
        self.client = client
    }
}

extension RateLimitRefusal: CustomStringConvertible {
    /// For the caller.
    public var description: String {
        guard let retryAfter else {
            return "\(count) at once are more than the \(name) of the client \(client), \(status.limit), ever allows;"
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
