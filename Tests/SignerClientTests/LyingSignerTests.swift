import Crypto
import SignerProtocol
import SigningKit
import SigningKitTesting
import Synchronization
import Testing

@testable import SignerClient

@Suite("A signer that lies")
struct LyingSignerTests {
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What the audit log gets.
        let reason: String
        let answer: @Sendable (LyingSigner, [SignRequest]) -> [UInt8]?

        init(_ name: String, _ reason: String, _ answer: @escaping @Sendable (LyingSigner, [SignRequest]) -> [UInt8]?) {
            (testDescription, self.reason, self.answer) = (name, reason, answer)
        }
    }

    static let lies: [Lie] = [
        Lie("a frame of no known kind", "unknown kind") { _, _ in [0, 0, 0, 1, 77] },
        Lie("a frame that is too long", "bytes") { _, _ in [0x7F, 0xFF, 0xFF, 0xFF, 4] },
        Lie("half a record", "no number of records") { _, _ in
            SignerFrame(.signatures, [UInt8](repeating: 0, count: 71)).bytes
        },
        Lie("another ID", "no digest") { signer, requests in signer.signatures(requests) { $0 + 1000 } },
        Lie("a signature twice", "no digest") { signer, requests in
            signer.signatures(requests) + signer.signatures(requests)
        },
        Lie("a refusal of an unknown digest", "did not get") { _, _ in
            SignerFrame.encoding([Numbered(99_999, KeyError.busy)], as: .refusals).bytes
        },
        Lie("an answer to no call", "did not get") { _, _ in
            SignerFrame.encoding(Numbered(99_999, SignerAnswer.done), as: .answer).bytes
        },
        Lie("a negative count", "counted") { _, _ in
            SignerFrame.encoding(Numbered(99_999, SignerAnswer.count(.min)), as: .answer).bytes
        },
        Lie("questions without end", "questions at one time") { _, _ in
            (0..<5000).flatMap { id in
                SignerFrame.encoding(Numbered(id, SignerQuestion.endTurn(id: "none", refused: nil)), as: .question)
                    .bytes
            }
        },
        Lie("a list of no refusals", "empty list") { _, _ in SignerFrame(.refusals, Array("[]".utf8)).bytes },
        Lie("large messages without end", "messages") { _, _ in
            let text = String(repeating: "a", count: 100_000)
            return (0..<200).flatMap { _ in
                SignerFrame.encoding(SignerNotice.progress(session: 1, text), as: .notice).bytes
            }
        },
        Lie("messages without end", "messages") { _, _ in
            let notice = SignerNotice.progress(session: 1, "on it")
            return (0..<20_000).flatMap { _ in SignerFrame.encoding(notice, as: .notice).bytes }
        },
        Lie("a message that is too long", "bytes") { _, _ in
            SignerFrame(.notice, [UInt8](repeating: 32, count: 1 << 18)).bytes
        },
        Lie("a call to the gateway", "only the gateway sends") { _, _ in SignerFrame(.call, Array("{}".utf8)).bytes },
        Lie("text that is no message", "as the protocol requires") { _, _ in
            SignerFrame(.notice, Array("{".utf8)).bytes
        },
        Lie("the end of the connection", "ended") { _, _ in nil },
    ]

    @Test("Its process is replaced, and the next one signs", arguments: lies)
    func lie(_ lie: Lie) async throws {
        let key = P256.Signing.PrivateKey()
        // The first connection lies once: the proof that a new process must sign is true.
        let signer = try TestSigner { number, descriptor in
            LyingSigner(key: key) { signer, requests in
                number == 1 ? lie.answer(signer, requests) : signer.signatures(requests)
            }.serve(descriptor)
        }
        defer { signer.close() }
        let events = ReportedEvents()
        let (backend, found) = try await SignerBackendTests.open(
            "fake:lies;key=k", SignerBackendTests.environment(signer, name: "lie", events))
        _ = try? await found.sign(SignerBackendTests.digest)
        let lost = try #require(await events.first(.signerLost))
        #expect(lost.reason?.contains(lie.reason) == true, "\(lost.reason ?? "none")")
        let signature = try await signature(of: SignerBackendTests.digest, by: found)
        #expect(key.publicKey.verifies(signature, of: SignerBackendTests.digest))
        await backend.close()
    }

    @Test("A signature that does not verify is a reason to replace its process")
    func wrongSignature() async throws {
        let key = P256.Signing.PrivateKey()
        let signer = try TestSigner { number, descriptor in
            LyingSigner(key: key) { signer, requests in
                guard number == 1 else { return signer.signatures(requests) }
                return LyingSigner(key: P256.Signing.PrivateKey(), answer: { _, _ in nil }).signatures(requests)
            }.serve(descriptor)
        }
        defer { signer.close() }
        let events = ReportedEvents()
        let (backend, found) = try await SignerBackendTests.open(
            "fake:lies;key=k", SignerBackendTests.environment(signer, name: "wrong", events))
        let digest = SignerBackendTests.digest
        let wrong = try await found.sign(digest)
        #expect(!key.publicKey.verifies(wrong, of: digest))
        found.madeWrongSignature()
        #expect(await events.first(.signerLost)?.reason?.contains("does not verify") == true)
        #expect(key.publicKey.verifies(try await signature(of: digest, by: found), of: digest))
        await backend.close()
    }

    @Test("A digest that came too late for a process that is being replaced is signed by the next one")
    func lateDigest() async throws {
        let key = P256.Signing.PrivateKey()
        let isReplaced = Semaphore()
        let signer = try TestSigner { number, descriptor in
            LyingSigner(key: key) { signer, requests in
                guard number == 1 else { return signer.signatures(requests) }
                isReplaced.wait()
                return SignerFrame.encoding(requests.map { Numbered($0.id, KeyError.closed) }, as: .refusals).bytes
            }.serve(descriptor)
        }
        defer { signer.close() }
        let (backend, found) = try await SignerBackendTests.open(
            "fake:lies;key=k", SignerBackendTests.environment(signer, name: "late"))
        let process = try #require(Signers.shared.pool(named: "late")?.processes.first)
        let digest = SignerBackendTests.digest
        let request = Task { try await found.sign(digest) }
        try await SignerBackendTests.wait { process.connection.load == 1 }
        let restart = Task { try await Signers.shared.restart("late", because: "A test.") }
        try await SignerBackendTests.wait { process.isDraining }
        isReplaced.signal()
        #expect(key.publicKey.verifies(try await request.value, of: digest))
        #expect(try await restart.value)
        await backend.close()
    }

    @Test("A process that does not answer is ended at the deadline")
    func silence() async throws {
        let key = P256.Signing.PrivateKey()
        let signer = try TestSigner { number, descriptor in
            LyingSigner(key: key) { signer, requests in number == 1 ? [] : signer.signatures(requests) }
                .serve(descriptor)
        }
        defer { signer.close() }
        let events = ReportedEvents()
        let (backend, found) = try await SignerBackendTests.open(
            "fake:lies;key=k", SignerBackendTests.environment(signer, name: "silent", events))
        let pool = try #require(Signers.shared.pool(named: "silent"))
        let number = try #require(pool.processes.first)
        await #expect(throws: SignerFailure.self) {
            try await number.connection.sign(
                SignerBackendTests.digest, with: 1, deadline: MonotonicTime.after(.milliseconds(50)))
        }
        #expect(await events.first(.signerLost)?.reason?.contains("in time") == true)
        let signature = try await signature(of: SignerBackendTests.digest, by: found)
        #expect(key.publicKey.verifies(signature, of: SignerBackendTests.digest))
        await backend.close()
    }
}
