import Synchronization

/// Whether a signature of a key did not verify. It stays, over all generations that have the key, until the process is
/// started anew.
final class Suspicion: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}
