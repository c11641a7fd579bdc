import GatewayConfiguration
import NIOCore
import Testing

@testable import GatewayHTTP

@Suite("Timeouts of a connection")
struct ExchangeClockTests {
    private let bounds: GatewayConfiguration.Limits = {
        var bounds = GatewayConfiguration.Limits()
        bounds.handshakeTimeout = .seconds(1)
        bounds.requestTimeout = .seconds(10)
        bounds.idleTimeout = .seconds(100)
        return bounds
    }()

    @Test("Each phase has its own deadline")
    func phases() {
        let clock = RequestTimeouts(bounds, isSecure: true)
        expect(clock, .handshake, .seconds(1))
        clock.noteHandshake()
        expect(clock, .idle, .seconds(100))
        clock.noteBytes()
        expect(clock, .arriving, .seconds(10))
        clock.noteHead()
        clock.noteRequestEnd()
        expect(clock, .answering, .seconds(10))
        clock.noteAnswerEnd()
        expect(clock, .idle, .seconds(100))
    }

    @Test("Further bytes and the end of a request do not restart its deadline")
    func drip() {
        let clock = RequestTimeouts(bounds, isSecure: false)
        clock.noteBytes()
        let begun = clock.since
        clock.noteBytes()
        clock.noteHead()
        clock.noteBytes()
        clock.noteRequestEnd()
        #expect(clock.since == begun)
    }

    @Test("A request that is answered early still has to arrive in time")
    func earlyAnswer() {
        let clock = RequestTimeouts(bounds, isSecure: false)
        clock.noteHead()
        let begun = clock.since
        clock.noteAnswerEnd()
        expect(clock, .arriving, .seconds(10))
        #expect(clock.since == begun)
        clock.noteRequestEnd()
        expect(clock, .idle, .seconds(100))
    }

    @Test("A pipelined request has its own deadline")
    func pipelined() {
        let clock = RequestTimeouts(bounds, isSecure: false)
        clock.noteHead()
        clock.noteRequestEnd()
        clock.noteHead()
        clock.noteRequestEnd()
        clock.noteAnswerEnd()
        expect(clock, .answering, .seconds(10))
        clock.noteAnswerEnd()
        expect(clock, .idle, .seconds(100))
    }

    @Test("A pipelined request that still arrives has its own deadline to arrive")
    func pipelinedInPart() {
        let clock = RequestTimeouts(bounds, isSecure: false)
        clock.noteHead()
        clock.noteRequestEnd()
        clock.noteHead()
        expect(clock, .answering, .seconds(10))
        clock.noteAnswerEnd()
        expect(clock, .arriving, .seconds(10))
        clock.noteRequestEnd()
        expect(clock, .answering, .seconds(10))
    }

    @Test("The answer to a truncated request has its own deadline")
    func cutOff() {
        let clock = RequestTimeouts(bounds, isSecure: false)
        clock.noteHead()
        let begun = clock.since
        clock.noteCutOff()
        expect(clock, .answering, .seconds(10))
        #expect(clock.since > begun && !clock.isReceivingBody)
        clock.noteAnswerEnd()
        expect(clock, .idle, .seconds(100))
    }

    private func expect(_ clock: RequestTimeouts, _ phase: RequestTimeouts.Phase, _ time: TimeAmount) {
        #expect(clock.phase == phase)
        #expect(clock.deadline == clock.since + time)
    }
}
