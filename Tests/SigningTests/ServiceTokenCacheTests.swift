import SigningKit
import Testing

@testable import Signing

@Suite("The cache of service tokens")
struct ServiceTokenCacheTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func token(issuedAt: Int64, refreshAfter: Int64) throws -> IssuedToken {
        let json = """
            {"token":"e30.e30.AA","keyId":"K","issuedAt":\(issuedAt),"expiresAt":\(refreshAfter + 60),\
            "refreshAfter":\(refreshAfter)}
            """
        return try #require(IssuedToken(Array(json.utf8)))
    }

    @Test("Tokens that callers choose displace none of a service that wants the same token for some time")
    func isFull() throws {
        let cache = ServiceTokenCache()
        for number in 0..<1000 {
            cache.slot("chosen \(number)", .untilExpiry, at: now)
                .keep(try token(issuedAt: now.seconds, refreshAfter: now.seconds + 900))
        }
        #expect(cache.slot("another", .untilExpiry, at: now) !== cache.slot("another", .untilExpiry, at: now))
        #expect(cache.slot("push", .forSeconds(3000), at: now) === cache.slot("push", .forSeconds(3000), at: now))
    }

    @Test("A token is fresh until its time, also by the time that has passed, and not before it was issued")
    func freshness() throws {
        let begun = now.seconds
        let token = try token(issuedAt: begun, refreshAfter: begun + 3000)
        #expect(token.isFresh(at: begun) && token.isFresh(at: begun + 2999))
        #expect(!token.isFresh(at: begun + 3000) && !token.isFresh(at: begun - 61))
        // A token that was to be refreshed at once stays old after the clock is set back by a second.
        #expect(try !self.token(issuedAt: begun, refreshAfter: begun).isFresh(at: begun - 1))
    }
}
