import Synchronization

/// Whether a key had a verification failure. New configuration snapshots keep the flag while the connection stays.
final class VerificationFailureFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}
