import AuditKit
import SigningKit
import Synchronization
import Testing
import TransparencyLog

@testable import AuditLog

@Suite("The quorum of witnesses")
struct WitnessQuorumTests {
    /// Two witnesses, of which the policy needs one. `refusals` has their answers; nil cosigns.
    private final class Witnesses: CheckpointWitnesses {
        let keys: [WitnessKey]
        let policy: WitnessPolicy
        let refusals = Mutex<[WitnessRefusal?]>([nil, nil])

        init() throws {
            keys = try ["w.example/1", "w.example/2"].map { try .generate(name: $0) }
            let lines = keys.enumerated().map { "witness w\($0.offset) \($0.element.verifier.text)\n" }.joined()
            policy = try WitnessPolicy(
                parsing: Array((lines + "group any-witness any w0 w1\nquorum any-witness\n").utf8))
        }

        func ask(_ note: SignedNote, timeout: Duration) async -> [WitnessAnswer] {
            zip(keys, refusals.withLock { $0 }).map { key, refusal in
                if let refusal { return .failure(refusal) }
                guard let signature = try? key.cosign(note.text, at: 1) else {
                    return .failure(WitnessRefusal("Test."))
                }
                return .success(signature)
            }
        }
    }

    private let witnesses: Witnesses
    private let note: SignedNote

    init() throws {
        witnesses = try Witnesses()
        let checkpoint = try Checkpoint(origin: "example.com/log", size: 5, root: .empty)
        note = try NoteSigner.generate(name: "example.com/log").sign(checkpoint.text)
    }

    private func quorum(
        _ failure: WitnessFailure, interval: Duration = .seconds(600)
    ) -> WitnessQuorum {
        WitnessQuorum(witnesses, failure: failure, interval: interval, now: { Timestamp(milliseconds: 1000) })
    }

    @Test("Before the first quorum, require stops the gateway and warn does not")
    func beginning() {
        #expect(quorum(.require).error != nil && quorum(.require).isUrgent)
        #expect(quorum(.warn).error == nil && !quorum(.warn).isUrgent)
    }

    @Test("One witness of the policy is enough, and its signature is in the checkpoint")
    func enough() async throws {
        witnesses.refusals.withLock { $0 = [nil, WitnessRefusal("It is away.")] }
        let quorum = quorum(.require)
        var signed = note
        #expect(await quorum.cosign(&signed, size: 5, timeout: .seconds(1)))
        #expect(signed.signatures.map(\.name) == ["example.com/log", "w.example/1"])
        #expect(quorum.error == nil && !quorum.isUrgent)
        #expect(quorum.status.quorumSize == 5 && quorum.status.quorumComplaint == nil)
        #expect(quorum.status.witnesses.map(\.complaint) == [nil, "It is away."])
    }

    @Test("Without witnesses, a quorum ends after two intervals, and the error gives the reasons")
    func ended() async {
        let quorum = quorum(.require, interval: .zero)
        var signed = note
        #expect(await quorum.cosign(&signed, size: 5, timeout: .seconds(1)))
        #expect(quorum.error != nil)
        witnesses.refusals.withLock { $0 = [WitnessRefusal("It is away."), WitnessRefusal("It is lost.")] }
        #expect(await !quorum.cosign(&signed, size: 6, timeout: .seconds(1)))
        let text = quorum.error?.description ?? ""
        #expect(text.contains("w.example/1: It is away.") && text.contains("w.example/2: It is lost."))
        #expect(quorum.isUrgent && quorum.status.quorumSize == 5)
    }
}
