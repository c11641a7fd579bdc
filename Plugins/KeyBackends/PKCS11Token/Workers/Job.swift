internal import Crypto
internal import SigningKit

/// One digest that waits for its signature.
struct Job: Sendable {
    typealias Answer = Result<P256Signature, KeyError>

    let ticket: UInt64
    let digest: SHA256Digest
    let key: TokenKey
    /// Resumed exactly once, by the thread that takes the job. A checked continuation would allocate on the hot path.
    let caller: UnsafeContinuation<Answer, Never>
    /// Time of submission, in nanoseconds.
    let submitted: UInt64
    /// Whether a first attempt failed because of its session or its key.
    var isRetry = false
    /// Whether the job tries a failing key; other jobs are not signed with such a key.
    var isTrial = false

    func answer(_ answer: Answer) {
        caller.resume(returning: answer)
    }
}
