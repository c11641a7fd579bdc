import Crypto
import SigningKit
import Testing

@testable import WorkloadIdentities

struct IssuerTests {
    private let keys: [TestKey]
    private let source: TestKeySource
    private let start = ContinuousClock.now

    init() throws {
        keys = [.es256, try .rs256(), .edDSA]
        source = TestKeySource(keys)
    }

    private func issuer(
        refreshInterval: Duration = .seconds(300), maximumAge: Duration = .seconds(3600)
    ) -> Issuer {
        Issuer(
            IssuerSettings(
                name: "cluster", sign: .issuer("https://issuer.example.com"), audience: "privyseal", keys: .file("/"),
                refreshInterval: refreshInterval, maximumAge: maximumAge),
            source: source)
    }

    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private static let claims =
        #"{"iss":"https://issuer.example.com","sub":"web","aud":"privyseal","exp":1800000060}"#

    /// The subject, after `elapsed` since the beginning of the test.
    private func verify(
        _ token: String, by issuer: Issuer, after elapsed: Duration = .zero
    ) async throws -> String {
        let digest = SHA256.hash(data: Array(token.utf8))
        if let known = issuer.identity(of: digest, at: Self.now, by: start + elapsed) { return known.subject }
        return try await issuer.verify(
            WorkloadToken(token), digest: digest, at: Self.now, by: start + elapsed
        ).subject
    }

    @Test("Each algorithm proves an identity", arguments: 0..<3)
    func verifies(_ index: Int) async throws {
        #expect(try await verify(try keys[index].token(Self.claims), by: issuer()) == "web")
    }

    @Test("A key proves nothing with the algorithm of another key")
    func refusesOtherAlgorithm() async throws {
        let header = #"{"alg":"RS256","kid":"es256"}"#
        let token = try TestKey.es256.token(header: header, Self.claims)
        await #expect(throws: IdentityError.algorithmOfOtherKey(issuer: "cluster")) {
            try await verify(token, by: issuer())
        }
    }

    @Test("Callers at the same time cause one read of the keys")
    func sharesReads() async throws {
        let issuer = issuer()
        let token = try TestKey.es256.token(Self.claims)
        source.hold()
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await verify(token, by: issuer) } }
            while source.reads == 0 { await Task.yield() }
            source.letGo()
            for try await subject in group { #expect(subject == "web") }
        }
        #expect(source.reads == 1)
    }

    @Test("A token with a new key is answered by all of its callers, after one more read")
    func readsForNewKey() async throws {
        let issuer = issuer()
        _ = try await verify(try TestKey.es256.token(Self.claims), by: issuer)
        let new = TestKey.es256(named: "new")
        source.publish([.es256, new])
        let token = try new.token(Self.claims)
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await verify(token, by: issuer, after: .seconds(1)) } }
            for try await subject in group { #expect(subject == "web") }
        }
        #expect(source.reads == 2)
    }

    @Test("Unknown keys cause one read a minute")
    func limitsReadsForUnknownKeys() async throws {
        let issuer = issuer()
        for second in 0..<60 {
            let token = try TestKey.es256(named: "unknown \(second)").token(Self.claims)
            await #expect(throws: IdentityError.unknownKey(issuer: "cluster")) {
                try await verify(token, by: issuer, after: .seconds(second))
            }
        }
        // The first read of all, and the one for an unknown key.
        #expect(source.reads == 2)
        let token = try TestKey.es256(named: "later").token(Self.claims)
        await #expect(throws: IdentityError.unknownKey(issuer: "cluster")) {
            try await verify(token, by: issuer, after: .seconds(60))
        }
        #expect(source.reads == 3)
    }

    @Test("Keys that cannot be read again count until they are too old, and again after a read")
    func failsClosed() async throws {
        let issuer = issuer(refreshInterval: .seconds(10), maximumAge: .seconds(60))
        let token = try TestKey.es256.token(Self.claims)
        #expect(try await verify(token, by: issuer) == "web")
        source.fail(.unreadable("it is down"))
        #expect(try await verify(token, by: issuer, after: .seconds(59)) == "web")
        // The first of these waits for the read that the last line began.
        for second in [60, 65] {
            await #expect(throws: IdentityError.keysUnavailable(issuer: "cluster", .unreadable("it is down"))) {
                try await verify(token, by: issuer, after: .seconds(second))
            }
        }
        let reads = source.reads
        await #expect(throws: IdentityError.keysUnavailable(issuer: "cluster", .unreadable("it is down"))) {
            try await verify(token, by: issuer, after: .seconds(66))
        }
        #expect(source.reads == reads, "after a failure, the next read waits")
        source.publish([.es256])
        #expect(try await verify(token, by: issuer, after: .seconds(75)) == "web")
    }

    @Test("A set without keys revokes all keys of the issuer")
    func revokesAll() async throws {
        let issuer = issuer()
        let token = try TestKey.es256.token(Self.claims)
        #expect(try await verify(token, by: issuer) == "web")
        source.publish([])
        _ = try await issuer.readKeys(at: start + .seconds(1)).get()
        for second in [2, 100] {
            await #expect(throws: IdentityError.keysUnavailable(issuer: "cluster", .noUsableKey)) {
                try await verify(token, by: issuer, after: .seconds(second))
            }
        }
        source.publish([.es256])
        _ = try await issuer.readKeys(at: start + .seconds(101)).get()
        #expect(try await verify(token, by: issuer, after: .seconds(102)) == "web")
    }

    @Test("A token that was verified ends with its key")
    func forgetsTokensOfRemovedKeys() async throws {
        let issuer = issuer()
        let token = try TestKey.es256.token(Self.claims)
        #expect(try await verify(token, by: issuer) == "web")
        source.publish([try .rs256()])
        _ = try await issuer.readKeys(at: start + .seconds(1)).get()
        await #expect(throws: IdentityError.unknownKey(issuer: "cluster")) {
            try await verify(token, by: issuer, after: .seconds(2))
        }
    }

    @Test("A token that was verified is refused after its end")
    func comparesTimeOfKnownTokens() async throws {
        let issuer = issuer()
        let token = try TestKey.es256.token(Self.claims)
        _ = try await verify(token, by: issuer)
        let digest = SHA256.hash(data: Array(token.utf8))
        #expect(issuer.identity(of: digest, at: Self.now.later(by: 59)) != nil)
        #expect(issuer.identity(of: digest, at: Self.now.later(by: 60)) == nil)
    }

    @Test(
        "A required claim is compared with texts, numbers, Booleans and elements of arrays",
        arguments: [
            ("text", "main", true), ("text", "ma*", true), ("text", "other", false), ("number", "7", true),
            ("flag", "true", true), ("list", "b", true), ("list", "c", false), ("empty", "*", false),
            ("null", "*", false), ("object", "*", false), ("missing", "*", false),
        ])
    func comparesClaims(_ name: String, _ pattern: String, _ matches: Bool) async throws {
        let claims =
            String(Self.claims.dropLast()) + #","text":"main","number":7,"flag":true,"list":["a","b"],"empty":[],"#
            + #""null":null,"object":{"a":"b"}}"#
        let token = try TestKey.es256.token(claims)
        let identity = try await issuer().verify(
            WorkloadToken(token), digest: SHA256.hash(data: Array(token.utf8)), at: Self.now)
        #expect(identity.hasClaims([(name, Pattern(pattern))]) == matches)
    }
}
