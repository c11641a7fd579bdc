import NIOCore

/// How long what a connection is doing has taken, and may take. Lives on the connection's event loop.
final class ExchangeClock {
    enum Phase {
        case handshake
        case idle
        /// A request has begun to arrive.
        case arriving
        /// A request is there, and its answer is not.
        case answering
    }

    private(set) var phase: Phase
    private(set) var since: NIODeadline
    /// Called when a deadline begins to run: it may be earlier than the one before.
    var onChange: (() -> Void)?
    private let bounds: ConnectionBounds
    private var unanswered = 0
    private var isArriving = false

    init(_ bounds: ConnectionBounds, isSecure: Bool) {
        self.bounds = bounds
        phase = isSecure ? .handshake : .idle
        since = .now()
    }

    /// When the present phase has taken too long.
    var deadline: NIODeadline {
        switch phase {
        case .handshake: since + bounds.handshakeTimeout
        case .idle: since + bounds.idleTimeout
        case .arriving, .answering: since + bounds.requestTimeout
        }
    }

    /// Whether an answer is due, to a request that has begun at least.
    var owesAnswer: Bool { unanswered > 0 || !isArriving }

    /// Whether requests wait for their answers.
    var isAnswering: Bool { unanswered > 0 }

    var isAnsweringLast: Bool { unanswered == 1 }

    /// Whether a request's header has come, and its end has not.
    var isReceivingBody: Bool { isArriving }

    func noteHandshake() { enter(.idle) }

    /// A request's first byte starts its clock; those that follow do not set it back.
    func noteBytes() {
        if phase == .idle { enter(.arriving) }
    }

    func noteHead() {
        unanswered += 1
        isArriving = true
        noteBytes()
    }

    func noteRequestEnd() {
        isArriving = false
        guard phase == .arriving else { return }
        if unanswered > 0 { phase = .answering } else { enter(.idle) }
    }

    /// The request that arrives will not come whole; its answer has time from now.
    func noteCutOff() {
        isArriving = false
        if unanswered > 0 { enter(.answering) }
    }

    func noteAnswerEnd() {
        unanswered -= 1
        if unanswered == 1, isArriving {
            enter(.arriving)
        } else if unanswered > 0 {
            enter(.answering)
        } else if !isArriving {
            enter(.idle)
        }
    }

    private func enter(_ phase: Phase) {
        self.phase = phase
        since = .now()
        onChange?()
    }
}
