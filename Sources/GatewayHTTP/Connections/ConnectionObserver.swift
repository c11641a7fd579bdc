/// Is told what becomes of connections without any route having had a say.
protocol ConnectionObserver: Sendable {
    /// There is no room for it.
    func noteRefused()
    /// It took longer than it may, at whatever it did.
    func noteOverdue(_ phase: ExchangeClock.Phase)
    func noteFailedHandshake(_ error: any Error)
    /// It was ended with this answer, and none of its requests will tell of it.
    func noteAnswered(_ problem: Problem)
}
