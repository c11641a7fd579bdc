internal import Crypto
internal import SigningKit

/// One digest that waits for its signature.
struct Job: Sendable {
    typealias Answer = Result<P256Signature, KeyError>

    let ticket: UInt64
    let digest: SHA256Digest
    let key: TokenKey
    /// Resumed exactly once, by whoever takes the job out of the queue or off its lane. An unchecked one: a checked
    /// one allocates, and this is the hot path.
    let caller: UnsafeContinuation<Answer, Never>
}
