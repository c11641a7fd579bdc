import Crypto
import SigningKit
import Synchronization
import Testing

@testable import AWSKMS

@Suite("The renewal of credentials", .timeLimit(.minutes(1)))
struct CredentialCacheTests {
    /// A source of credentials, with a clock.
    final class Source: Sendable {
        private struct State {
            var loads = 0, begun = 0
            var time = Timestamp(milliseconds: 1_764_000_000_000)
            var error: KeyError?
            var lifetime: Int64? = 3_600_000
            var isConstant = false
        }

        private let state = Mutex(State())

        var loads: Int { state.withLock { $0.loads } }
        var begun: Int { state.withLock { $0.begun } }
        func advance(seconds: Int64) { state.withLock { $0.time = $0.time.later(by: seconds) } }
        func fail(_ error: KeyError?) { state.withLock { $0.error = error } }
        func setLifetime(_ milliseconds: Int64?) { state.withLock { $0.lifetime = milliseconds } }
        func keepConstant() { state.withLock { $0.isConstant = true } }

        /// - Parameter gate: each load after the first waits for it.
        func cache(gate: AsyncEvent? = nil) -> CredentialCache {
            CredentialCache(now: { self.state.withLock { $0.time } }) { _ throws(KeyError) in
                let isFirst = self.state.withLock { state in
                    state.begun += 1
                    return state.begun == 1
                }
                if let gate, !isFirst { await gate.wait() }
                return try self.load()
            }
        }

        private func load() throws(KeyError) -> AWSCredentials {
            try state.withLock { state throws(KeyError) in
                state.loads += 1
                if let error = state.error { throw error }
                return try AWSCredentials(
                    accessKeyID: "AKID\(state.isConstant ? 0 : state.loads)", secretAccessKey: "s", sessionToken: nil,
                    expiry: state.lifetime.map { Timestamp(milliseconds: state.time.milliseconds + $0) },
                    source: "a test")
            }
        }
    }

    @Test("credentials are loaded once, and renewed four to five minutes before they expire")
    func renewal() async throws {
        let source = Source()
        let cache = source.cache()
        #expect(try await cache.current().credentials.accessKeyID == "AKID1")
        source.advance(seconds: 3600 - 301)
        #expect(try await cache.current().credentials.accessKeyID == "AKID1")
        source.advance(seconds: 62)
        #expect(try await cache.current().credentials.accessKeyID == "AKID2")
        #expect(source.loads == 2)
    }

    @Test("credentials with a short life are renewed in its second half, and not at each call")
    func shortLife() async throws {
        let source = Source()
        source.setLifetime(10_000)
        let cache = source.cache()
        for second in 0..<100 {
            #expect(try await cache.current().credentials.expiry.map { $0.milliseconds > 0 } == true, "\(second)")
            source.advance(seconds: 1)
        }
        #expect((10...21).contains(source.loads))
    }

    @Test("credentials without an expiry are never renewed")
    func permanent() async throws {
        let source = Source()
        source.setLifetime(nil)
        let cache = source.cache()
        for _ in 0..<3 {
            _ = try await cache.current()
            source.advance(seconds: 1_000_000)
        }
        #expect(source.loads == 1)
    }

    @Test("a hundred calls at once load the credentials once")
    func oneLoad() async throws {
        let source = Source()
        let cache = source.cache()
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await cache.current().credentials.accessKeyID } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(names == ["AKID1"] && source.loads == 1)
    }

    @Test("while one call renews them, the others use the old ones without waiting")
    func others() async throws {
        let source = Source()
        let gate = AsyncEvent()
        let cache = source.cache(gate: gate)
        _ = try await cache.current()
        source.advance(seconds: 3590)
        let renewing = Task { try await cache.current().credentials.accessKeyID }
        while source.begun < 2 { await Task.yield() }
        for _ in 0..<100 { #expect(try await cache.current().credentials.accessKeyID == "AKID1") }
        gate.happen()
        #expect(try await renewing.value == "AKID2")
        #expect(source.loads == 2)
    }

    @Test("old credentials are used until they expire if no new ones can be loaded")
    func failure() async throws {
        let source = Source()
        let cache = source.cache()
        _ = try await cache.current()
        source.fail(.unavailable("No answer."))
        source.advance(seconds: 3400)
        #expect(try await cache.current().credentials.accessKeyID == "AKID1")
        #expect(cache.complaint == .unavailable("No answer."))
        // The next attempt is not at once.
        #expect(try await cache.current().credentials.accessKeyID == "AKID1")
        #expect(source.loads == 2)
        source.advance(seconds: 300)
        await #expect(throws: KeyError.unavailable("No answer.")) { try await cache.current() }
        source.fail(nil)
        try await Task.sleep(for: .seconds(1))
        #expect(try await cache.current().credentials.accessKeyID != "AKID1")
        #expect(cache.complaint == nil)
    }

    @Test("a failed load is not repeated by each waiting call")
    func noConvoy() async throws {
        let source = Source()
        source.fail(.unavailable("No answer."))
        let cache = source.cache()
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = try? await cache.current() } }
        }
        #expect(source.loads == 1)
    }

    @Test("refused credentials are replaced once, also for many calls")
    func replacement() async throws {
        let source = Source()
        let cache = source.cache()
        let old = try await cache.current()
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask { try await cache.replacement(for: old)?.credentials.accessKeyID ?? "none" }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(names == ["AKID2"] && source.loads == 2)
    }

    @Test("if the source has no others in place of refused ones, it is asked once a second")
    func constant() async throws {
        let source = Source()
        source.keepConstant()
        let cache = source.cache()
        for _ in 0..<10 {
            let old = try await cache.current()
            #expect(try await cache.replacement(for: old) == nil)
        }
        #expect(source.loads == 2)
    }

    @Test("an error of the credentials that stays names AWS's code, and not the secret")
    func wrong() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        test.kms.refuse("DescribeKey", "InvalidSignatureException")
        let text = try #require(await test.refusal()).description
        #expect(
            text.contains("InvalidSignatureException") && text.contains("clock") && !text.contains("secret-access-key"))
        #expect(test.kms.names() == ["DescribeKey"])
    }

    @Test("credentials that have expired already are refused")
    func expired() async throws {
        let source = Source()
        source.setLifetime(-1)
        let cache = source.cache()
        await #expect(throws: KeyError.self) { try await cache.current() }
    }

    @Test("KMS refuses expired credentials during a run, and no signature fails")
    func run() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        let issued = Log<String>()
        let container = try await FakeServer { _ in
            let id = "AKIDRUN\(issued.count)"
            issued.add(id)
            let expiry = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000).text
            return .json(
                #"{"AccessKeyId":"\#(id)","SecretAccessKey":"s","Token":"t-\#(id)","Expiration":"\#(expiry)"}"#)
        }
        let variables = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": container.origin + "/", "HOME": "/nonexistent"]
        try await test.withKey(variables: variables) { key in
            await withTaskGroup { group in
                for worker in 0..<8 {
                    group.addTask {
                        for index in 0..<100 {
                            let digest = SHA256.hash(data: Array("\(worker)/\(index)".utf8))
                            do {
                                let signature = try await key.sign(digest)
                                #expect(key.publicKey.verifies(signature, of: digest))
                            } catch { Issue.record("\(error)") }
                        }
                    }
                }
                // Before their expiry, as an administrator can revoke the sessions of a role.
                for _ in 0..<3 {
                    try? await Task.sleep(for: .milliseconds(50))
                    if let current = issued.all.last { test.kms.expire(current) }
                }
            }
        }
        #expect(issued.count == 4)
        let last = try #require(test.kms.calls.all.last)
        #expect(last.sessionToken == "t-\(last.accessKeyID)")
        try await container.close()
    }
}
