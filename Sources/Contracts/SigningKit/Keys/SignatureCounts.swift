import Synchronization

/// Counts the signatures of all keys of this process, to detect a signature without a record.
///
/// A key counts each signature that it returns. The gateway counts those that it has settled: recorded in the audit log,
/// used as a proof, or discarded. What is left over was made past the audit log.
public final class SignatureCounts: Sendable {
    public static let shared = SignatureCounts()

    private let returned = Atomic<Int>(0)
    private let pending = Atomic<Int>(0)
    private let settled = Atomic<Int>(0)

    public init() {}

    /// A key returns a signature to its caller.
    public func noteReturned() { returned.add(1, ordering: .relaxed) }

    /// The dispatcher has a signature that will be recorded or discarded.
    public func begin() { pending.add(1, ordering: .relaxed) }

    /// Signatures of `begin()` were recorded or discarded.
    public func end(_ count: Int = 1) {
        settled.add(count, ordering: .relaxed)
        pending.subtract(count, ordering: .relaxed)
    }

    /// A signature was a proof, or did not verify.
    public func settle() { settled.add(1, ordering: .relaxed) }

    /// Signatures that were neither recorded nor discarded.
    public var withoutRecord: Int { max(0, balance) }

    var returnedCount: Int { returned.load(ordering: .relaxed) }

    /// Below zero if the gateway has settled signatures of keys that count nothing, as in tests.
    private var balance: Int {
        returned.load(ordering: .relaxed) - settled.load(ordering: .relaxed) - pending.load(ordering: .relaxed)
    }
}
