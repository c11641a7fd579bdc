internal import PKCS11
internal import SigningKit

/// A session and the thread that signs with it.
///
/// What changes is behind the pool's lock; `bell` wakes the thread.
final class Lane: @unchecked Sendable {
    enum State {
        /// Without a session; the keeper will open one.
        case lost
        /// With a session, and signing or ready to.
        case ready
        /// In a call that takes too long. Its thread goes when the call comes back.
        case aside
        /// Its thread goes, or has gone.
        case ended
    }

    let bell = Semaphore()
    var state = State.lost
    var signer: Signer?
    var job: Job?
    /// When the job was begun, in nanoseconds.
    var begun: UInt64 = 0
    var isIdle = false
    /// Whether it signed a job with its session.
    var hasSigned = false
    /// What is done and not delivered yet.
    var done: [LanePool.Outcome] = []
    /// When the first of them was begun, in nanoseconds.
    var doneSince: UInt64 = 0
}
