/// Receives events of connections that no route reports.
protocol ConnectionObserver: Sendable {
    /// The connection limit is reached.
    func noteRefused()
    /// The connection exceeded the timeout of this phase.
    func noteOverdue(_ phase: RequestTimeouts.Phase)
    func noteFailedHandshake(_ error: any Error)
    /// The connection ended with this answer, and none of its requests reports it.
    func noteAnswered(_ problem: Problem)
}
