/// Keeps the keys of a snapshot open for a request. It signals when the last reference is released.
///
/// The snapshot itself cannot do this: a task may release it after its last use of it, before the task waits for the
/// signature. The lease stays with the request.
final class SnapshotLease: Sendable {
    let onRelease = AsyncSignal()

    deinit {
        onRelease.ring()
    }
}
