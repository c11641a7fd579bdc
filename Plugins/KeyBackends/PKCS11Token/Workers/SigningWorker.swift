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
