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
    let caller: UnsafeContinuation<Delivery, Never>
    /// Where the caller goes on.
    let loop = RequestLoop.current
    /// When it was asked for, in nanoseconds.
    let submitted: UInt64
    /// Whether a first attempt failed because of its session, or of the key.
    var isRetry = false
    /// Whether it tries a key that is ill; other jobs are not signed with such a key.
    var isTrial = false

    func answer(_ answer: Answer) {
        caller.resume(returning: Delivery(answer: answer, companions: []))
    }
}

/// An answer, and others that came with it. Whoever is woken by it wakes their callers: to wake a sleeping executor
/// from a lane costs a switch of threads each time, to go on from within costs next to nothing.
struct Delivery: Sendable {
    let answer: Job.Answer
    let companions: ArraySlice<LanePool.Outcome>

    /// Delivers all of it by waking each event loop once, and one caller who came from none.
    static func deliver(_ outcomes: [LanePool.Outcome]) {
        RequestLoop.resume(outcomes, from: \.job.loop) { outcomes in
            guard let first = outcomes.first else { return }
            first.job.caller.resume(returning: Delivery(answer: first.answer, companions: outcomes.dropFirst()))
        }
    }

    func opened() -> Job.Answer {
        for companion in companions { companion.job.answer(companion.answer) }
        return answer
    }
}
