import Crypto
import Encodings
import Foundation
import SigningKit
import SigningKitTesting
import Testing

@testable import AWSKMS

@Suite("Signing with a key in AWS KMS", .timeLimit(.minutes(1)))
struct SigningTests {
    private static let digest = SHA256.hash(data: Array("message".utf8))

    @Test("one signature is one call, with the digest as it is, by ARN")
    func call() async throws {
        let test = try await TestBackend()
        let known = test.kms.add("KEY")
        try await test.withKey { key in
            #expect(key.custody == .service && key.tokenSerial == nil)
            let signature = try await key.sign(Self.digest)
            #expect(key.publicKey.verifies(signature, of: Self.digest))
        }
        #expect(test.kms.names() == ["DescribeKey", "GetPublicKey", "Sign"])
        let body = try #require(test.kms.calls.all.last?.body)
        #expect(body.contains(#""MessageType":"DIGEST""#) && body.contains(#""SigningAlgorithm":"ECDSA_SHA_256""#))
        #expect(body.contains(Base64.standard.text(Array(Self.digest))) && body.contains(FakeKMS.arn(known.id)))
    }

    @Test("throttled calls, server errors and broken connections are repeated within the timeout")
    func retries() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey { key in
            test.kms.fail([
                .error("ThrottlingException"), .error("KMSInternalException", status: 500),
                FakeServer.Answer(status: 429), FakeServer.Answer(isDropped: true), .error("ThrottlingException"),
                FakeServer.Answer(status: 503, body: "<html>"),
            ])
            let signature = try await key.sign(Self.digest)
            #expect(key.publicKey.verifies(signature, of: Self.digest))
        }
        #expect(test.kms.names().count { $0 == "Sign" } == 7)
    }

    @Test("a rate limit that does not end is busy, because the key itself works")
    func throttled() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey("alias/KEY", ["attempts": .integer(3)]) { key in
            test.kms.fail([FakeServer.Answer](repeating: .error("ThrottlingException"), count: 3))
            await #expect(throws: KeyError.busy) { try await key.sign(Self.digest) }
            _ = try await key.sign(Self.digest)
        }
        #expect(test.kms.names().count { $0 == "Sign" } == 4)
    }

    @Test("an error that does not end is unavailable, and so is the health until a signature succeeds")
    func unavailable() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        let backend = try await test.open(["attempts": .integer(2)])
        let key = try await backend.key(test.selector("alias/KEY"))
        test.kms.fail([FakeServer.Answer](repeating: .error("KMSInternalException", status: 500), count: 2))
        let error = try #require(await refusal(key))
        #expect(error.kind == .unavailable && error.description.contains("KMSInternalException"))
        #expect(await backend.health() == .unavailable("\(error)"))
        _ = try await key.sign(Self.digest)
        #expect(await backend.health() == .ready)
        await backend.close()
    }

    @Test("a service that does not answer costs no more than the timeout")
    func timeout() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey("alias/KEY", ["timeout": .integer(1)]) { key in
            test.kms.fail([FakeServer.Answer](repeating: FakeServer.Answer(delay: .seconds(30)), count: 9))
            let begin = ContinuousClock.now
            #expect(await refusal(key)?.kind == .unavailable)
            #expect(.now - begin < .seconds(3))
            #expect(test.kms.names().count { $0 == "Sign" } > 1, "the first attempt leaves time for another one")
            test.kms.fail([])
            _ = try await key.sign(Self.digest)
        }
    }

    @Test("an answer that stalls costs no more than the timeout")
    func stall() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey("alias/KEY", ["timeout": .integer(1)]) { key in
            test.kms.fail([FakeServer.Answer](repeating: FakeServer.Answer(body: "{}", stalls: true), count: 9))
            let begin = ContinuousClock.now
            #expect(await refusal(key)?.kind == .unavailable)
            #expect(.now - begin < .seconds(3))
        }
    }

    @Test("a cancelled request ends at once")
    func cancelled() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey("alias/KEY", ["timeout": .integer(30)]) { key in
            test.kms.fail([FakeServer.Answer](repeating: FakeServer.Answer(delay: .seconds(20)), count: 9))
            let signing = Task { await refusal(key) }
            while test.kms.names().last != "Sign" { await Task.yield() }
            signing.cancel()
            #expect(await signing.value == .cancelled)
        }
    }

    @Test(
        "an error of KMS has the case that its remedy needs, and is not repeated",
        arguments: [
            ("AccessDeniedException", KeyErrorKind.unavailable, "policy"),
            ("DisabledException", .unavailable, "enable-key"), ("KMSInvalidStateException", .unavailable, "sign"),
            ("NotFoundException", .notFound, "region"), ("InvalidKeyUsageException", .unfit, "InvalidKeyUsage"),
            ("ValidationException", .failed, "ValidationException"),
            ("com.amazonaws.kms#AccessDeniedException:http://internal.amazon.com/", .unavailable, "AccessDenied"),
        ])
    func errors(_ code: String, _ kind: KeyErrorKind, _ words: String) async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey { key in
            test.kms.fail([.error(code)])
            let error = try #require(await refusal(key))
            #expect(error.kind == kind && error.description.contains(words), "\(error)")
            #expect(test.kms.names().count { $0 == "Sign" } == 1)
        }
    }

    @Test("an answer without a document is an error with its status")
    func emptyError() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey { key in
            test.kms.fail([FakeServer.Answer(status: 403, body: "denied")])
            #expect(await refusal(key)?.description.contains("403") == true)
        }
    }

    struct Lie: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answer: @Sendable (FakeServer.Answer) -> FakeServer.Answer
    }

    @Test(
        "an answer of another form is not a signature",
        arguments: [
            Lie(testDescription: "the key of another ARN") { $0.with("key/", "key/0") },
            Lie(testDescription: "another algorithm") { $0.with("ECDSA_SHA_256", "ECDSA_SHA_384") },
            Lie(testDescription: "no JSON") { _ in FakeServer.Answer(body: "<html>") },
            Lie(testDescription: "no members") { _ in FakeServer.Answer(body: "{}") },
            Lie(testDescription: "an empty body") { _ in FakeServer.Answer() },
            Lie(testDescription: "a signature that is not Base64") { $0.with(#""Signature":""#, #""Signature":"*"#) },
            Lie(testDescription: "a signature that is not DER") { $0.with(#""Signature":"ME"#, #""Signature":"AA"#) },
            Lie(testDescription: "a number as the signature") { _ in
                FakeServer.Answer(body: #"{"KeyId":"k","Signature":7,"SigningAlgorithm":"ECDSA_SHA_256"}"#)
            },
            Lie(testDescription: "more than 64 KiB") { answer in
                FakeServer.Answer(body: answer.body + String(repeating: " ", count: 70_000))
            },
        ])
    func lies(_ lie: Lie) async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey { key in
            test.kms.changeAnswers { name, answer in name == "Sign" ? lie.answer(answer) : answer }
            let error = try #require(await refusal(key))
            #expect(error.kind == .failed, "\(error)")
            #expect(test.kms.names().count { $0 == "Sign" } == 1, "it is not repeated")
        }
    }

    @Test("a redirect is not followed, because it could lead the request away")
    func redirect() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        let requests = Log<FakeServer.Request>()
        let other = try await FakeServer { request in
            requests.add(request)
            return FakeServer.Answer()
        }
        try await test.withKey { key in
            test.kms.fail([FakeServer.Answer(status: 307, headers: [("Location", other.origin + "/")])])
            #expect(await refusal(key)?.kind == .failed)
        }
        #expect(requests.count == 0)
        try await other.close()
    }

    private func refusal(_ key: any SigningKey) async -> KeyError? {
        do throws(KeyError) {
            _ = try await key.sign(Self.digest)
            return nil
        } catch { return error }
    }
}

extension FakeServer.Answer {
    func with(_ old: String, _ new: String) -> Self {
        var answer = self
        answer.body = body.replacing(old, with: new)
        return answer
    }
}

@Suite("Finding a key in AWS KMS", .timeLimit(.minutes(1)))
struct KeyTests {
    @Test("the backend keeps the key of an alias, even if the alias names another key later")
    func movedAlias() async throws {
        let test = try await TestBackend()
        let known = test.kms.add("KEY")
        let other = test.kms.add()
        try await test.withKey { key in
            test.kms.point("KEY", to: other.id)
            let digest = SHA256.hash(data: [1])
            let signature = try await key.sign(digest)
            #expect(key.publicKey.verifies(signature, of: digest))
            #expect(key.publicKey.rawRepresentation == known.privateKey?.publicKey.rawRepresentation)
        }
    }

    @Test(
        "a key that cannot sign is refused with the remedy",
        arguments: [
            ("Disabled", KeyErrorKind.unavailable, "aws kms enable-key"),
            ("PendingDeletion", .unfit, "cancel-key-deletion"), ("PendingReplicaDeletion", .unfit, "deletion"),
            ("PendingImport", .notFound, "privyseal keys import"), ("Unavailable", .unavailable, "Enabled"),
            ("Creating", .unavailable, "Enabled"),
        ])
    func states(_ state: String, _ kind: KeyErrorKind, _ words: String) async throws {
        let test = try await TestBackend()
        test.kms.add("KEY") { $0.state = state }
        let error = try #require(await test.refusal())
        #expect(error.kind == kind && error.description.contains(words), "\(error)")
        #expect(test.kms.names() == ["DescribeKey"])
    }

    @Test("a description or a public key of another key is refused")
    func lies() async throws {
        let test = try await TestBackend()
        let key = test.kms.add("KEY")
        test.kms.changeAnswers { _, answer in answer.with("eu-west-1", "eu-west-2") }
        #expect(try await test.refusal(key.id)?.kind == .failed)
        test.kms.changeAnswers { _, answer in answer.with(key.id, "00000000-0000-0000-0000-000000000000") }
        #expect(try await test.refusal(key.id)?.kind == .failed)
        test.kms.changeAnswers { name, answer in
            name == "GetPublicKey" ? answer.with("key/", "key/0") : answer
        }
        #expect(try await test.refusal(key.id)?.kind == .failed)
    }

    @Test("a public key on another curve is refused, whatever the key spec says")
    func curve() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        let p384 = P384.Signing.PrivateKey().publicKey.derRepresentation.base64EncodedString()
        test.kms.changeAnswers { name, answer in
            name == "GetPublicKey" ? answer.with(#""PublicKey":""#, #""PublicKey":"\#(p384)","X":""#) : answer
        }
        #expect(try await test.refusal()?.kind == .unfit)
    }

    @Test("an ARN must name this region, and is used with its account")
    func arn() async throws {
        let test = try await TestBackend()
        let known = test.kms.add("KEY")
        let backend = try await test.open()
        let own = try AWSKMSBackend.address(of: KeyURI("awskms:\(FakeKMS.arn(known.id))")).selector
        _ = try await backend.key(own)
        #expect(test.kms.calls.all.first?.body.contains(FakeKMS.arn(known.id)) == true)
        let other = FakeKMS.arn(known.id).replacing(FakeKMS.account, with: "444455556666")
        let foreign = try AWSKMSBackend.address(of: KeyURI("awskms:\(other)")).selector
        await #expect(throws: KeyError.self) { try await backend.key(foreign) }
        await backend.close()
    }

    @Test("the gateway may ask for a missing key every second, but KMS is asked every five seconds")
    func bill() async throws {
        let test = try await TestBackend()
        let backend = try await test.open()
        let selector = try test.selector("alias/KEY")
        for _ in 0..<10 { await #expect(throws: KeyError.self) { try await backend.key(selector) } }
        #expect(test.kms.names() == ["DescribeKey"])
        test.kms.add("KEY")
        // An inspection sees the new key, so the next search asks KMS again.
        #expect(try await backend.inspect(selector).matches == 1)
        _ = try await backend.key(selector)
        await backend.close()
    }

    @Test("the proof interval is a setting")
    func proofs() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        try await test.withKey { #expect($0.proofSchedule.interval == .seconds(3600)) }
        try await test.withKey("alias/KEY", ["proofInterval": .integer(60)]) { key in
            #expect(key.proofSchedule == ProofSchedule(interval: .seconds(60), retryInterval: .seconds(5)))
        }
    }

    @Test("the report has the region and the requests in progress")
    func report() async throws {
        let test = try await TestBackend()
        let backend = try await test.open(["connections": .integer(2), "queueLimit": .integer(3)])
        let report = await backend.report()
        #expect(report.name == "awskms eu-west-1" && report.health == .ready && report.token == nil)
        #expect(report.pool?.wanted == 2 && report.pool?.queueLimit == 3 && report.pool?.busy == 0)
        await backend.close()
    }

    @Test("the limit for a call is longer than every operation")
    func callTimeout() throws {
        let settings = try PluginSettings(["timeout": .integer(60)], for: AWSKMSBackend.settings)
        #expect(AWSKMSBackend.callTimeout(settings) > .seconds(65))
        #expect(AWSKMSBackend.callTimeout(PluginSettings(defaultsOf: AWSKMSBackend.settings)) > .seconds(15))
    }
}
