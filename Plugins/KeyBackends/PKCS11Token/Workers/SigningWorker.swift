internal import Crypto
internal import PKCS11
internal import SigningKit

/// A session and the thread that signs with it. The pool's lock protects the mutable state; `signal` wakes the thread.
final class SigningWorker: @unchecked Sendable {
    enum State {
        /// Has no session; the maintenance thread will open one.
        case lost
        /// Has a session, and signs or is ready to sign.
        case ready
        /// In a call that takes too long. The thread ends when the call returns.
        case hung
        case ended
    }

    let signal = Semaphore()
    var state = State.lost
    var signer: Signer?
    var job: Job?
    /// Start of the job, in nanoseconds.
    var begun: UInt64 = 0
    var isIdle = false
    /// Whether it has signed a job with its session.
    var hasSigned = false
}

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
