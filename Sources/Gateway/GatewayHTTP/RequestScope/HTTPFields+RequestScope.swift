import HTTPTypes
import Signing

extension HTTPField.Name {
    /// These names are tokens (RFC 9110 §5.1), so the initializer succeeds. A mistake would show as `Via`.
    static let requestID = Self("X-Request-Id") ?? .via
    static let traceParent = Self("traceparent") ?? .via
    static let traceState = Self("tracestate") ?? .via
    static let rateLimit = Self("RateLimit-Limit") ?? .via
    static let rateLimitRemaining = Self("RateLimit-Remaining") ?? .via
    static let rateLimitReset = Self("RateLimit-Reset") ?? .via
    static let archivedBefore = Self("X-Archived-Before") ?? .via
}

extension HTTPFields {
    /// draft-ietf-httpapi-ratelimit-headers-07 §3: limits in requests, reset in seconds.
    mutating func set(_ limit: RateLimitStatus) {
        self[.rateLimit] = String(limit.limit)
        self[.rateLimitRemaining] = String(limit.remaining)
        self[.rateLimitReset] = String(limit.resetsAfter)
    }
}
