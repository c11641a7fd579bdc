import Glibc
import HTTPTypes
import HummingbirdCore
import NIOCore
import Signing
import StrictJSON
import Synchronization

extension Response {
    /// An answer that no cache may keep: a signature is for one purchase.
    init(
        _ body: ByteBuffer, as contentType: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) {
        var headers = headers
        // With the fields that `Routes` adds. Growing one by one would copy the fields four times.
        headers.reserveCapacity(12)
        headers[.contentType] = contentType
        headers[.cacheControl] = "no-store"
        self.init(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    static func json(
        _ bytes: [UInt8], as contentType: String = "application/json", status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        Response(ByteBuffer(bytes: bytes), as: contentType, status: status, headers: headers)
    }

    static func json(
        _ value: some Encodable, as contentType: String = "application/json", status: HTTPResponse.Status = .ok
    ) -> Response {
        json(JSONText.encode(value), as: contentType, status: status)
    }

    static func text(_ text: String) -> Response {
        Response(ByteBuffer(string: text), as: "text/plain; charset=utf-8")
    }
}

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

/// The value of `Date` (RFC 9110 §5.6.7), made once a second.
enum HTTPDate {
    private static let latest = Mutex((second: 0, text: ""))

    static func now() -> String {
        let second = time(nil)
        return latest.withLock { latest in
            if latest.second != second { latest = (second, text(second)) }
            return latest.text
        }
    }

    /// - Parameter second: since 1970.
    static func text(_ second: time_t) -> String {
        var second = second
        var parts = tm()
        gmtime_r(&second, &parts)
        // The program never calls setlocale(3), so the names are English.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            let count = strftime(start, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }
}
