import AuditLog
import SigningKit
import Synchronization
import TransparencyLog

/// The answers of the witnesses to one checkpoint.
final class WitnessRound: Sendable {
    private let policy: WitnessPolicy
    private let received: Mutex<[WitnessAnswer?]>
    private let enough = AsyncSignal()
    private let all = AsyncSignal()

    init(_ policy: WitnessPolicy) {
        self.policy = policy
        received = Mutex(policy.witnesses.map { _ in nil })
    }

    func note(_ answer: WitnessAnswer, of index: Int) {
        let (isEnough, isAll) = received.withLock { received in
            received[index] = answer
            let signers = zip(policy.witnesses, received).compactMap { witness, answer in
                if case .success = answer { witness.verifier } else { nil }
            }
            return (policy.isMet(by: signers), received.allSatisfy { $0 != nil })
        }
        if isEnough || isAll { enough.signal() }
        if isAll { all.signal() }
    }

    /// Waits for enough witnesses, and then a little for the others.
    func wait(atMost timeout: Duration, grace: Duration) async {
        guard await enough.wait(atMost: timeout) else { return }
        await all.wait(atMost: min(grace, timeout))
    }

    /// In the order of the policy.
    var answers: [WitnessAnswer] {
        received.withLock { $0 }.map { $0 ?? .failure(WitnessRefusal("It did not answer in time.")) }
    }
}
