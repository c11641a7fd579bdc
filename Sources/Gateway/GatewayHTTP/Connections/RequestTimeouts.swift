import GatewayConfiguration
import NIOCore

/// The current phase of a connection and its deadline. Used on the connection's event loop only.
final class RequestTimeouts {
    enum Phase {
        case handshake
        case idle
        case arriving
        /// A request has arrived, and its answer is not complete.
        case answering
    }

    private(set) var phase: Phase
    private(set) var since: NIODeadline
    /// Called when a phase begins: its deadline may be earlier than the previous one.
    var onChange: (() -> Void)?
    private let bounds: GatewayConfiguration.Limits
    private var unanswered = 0
    private var isArriving = false

    init(_ bounds: GatewayConfiguration.Limits, isSecure: Bool) {
        self.bounds = bounds
        phase = isSecure ? .handshake : .idle
        since = .now()
    }

    var deadline: NIODeadline {
        switch phase {
        case .handshake: since + TimeAmount(bounds.handshakeTimeout)
        case .idle: since + TimeAmount(bounds.idleTimeout)
        case .arriving, .answering: since + TimeAmount(bounds.requestTimeout)
        }
    }

    /// The connection ends with the first answer after this time.
    var age: TimeAmount { TimeAmount(bounds.connectionAge) }

    /// The connection ends if the client does not read an answer for this time.
    var readTimeout: TimeAmount { TimeAmount(bounds.idleTimeout) }

    /// False while only the body of a request that has its answer is arriving.
    var owesAnswer: Bool { unanswered > 0 || !isArriving }

    var isAnswering: Bool { unanswered > 0 }

    var isAnsweringLast: Bool { unanswered == 1 }

    /// Whether a request's head has arrived and its end has not.
    var isReceivingBody: Bool { isArriving }

    func noteHandshake() { enter(.idle) }

    /// A request's first byte starts its timeout; later bytes do not restart it.
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

    /// The rest of the arriving request will not come. The timeout of its answer starts now.
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
