import Synchronization

/// The schedule for looks at jobs that were reported as done.
final class ReportedJobs: Sendable {
    /// The pause after a look that ended no job.
    private static let pause = Duration.seconds(5)

    private struct State {
        var next = ContinuousClock.now
        var rounds = 0
    }

    private let state = Mutex(State())

    /// Begins a round of looks, unless it is too early for one.
    ///
    /// - Returns: the jobs, rotated each round: only the first job of a token that does not answer is looked at.
    func round<Job: Sendable>(of jobs: [Job]) -> [Job] {
        guard !jobs.isEmpty else { return [] }
        return state.withLock { state in
            guard state.next <= .now else { return [] }
            state.rounds += 1
            let first = state.rounds % jobs.count
            return Array(jobs[first...] + jobs[..<first])
        }
    }

    func postpone() { state.withLock { $0.next = .now + Self.pause } }
}
