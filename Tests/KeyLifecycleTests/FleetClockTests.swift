import AuditKit
import SigningKit
import Testing

@testable import KeyLifecycle

@Suite("The time at which all gateways of a fleet change a key")
struct FleetClockTests {
    /// Of the database.
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    let clock = FleetClock()

    init() { clock.note(Self.view(Self.now)) }

    /// A reading of the database's clock that took `duration` and ended now.
    static func view(_ time: Timestamp, took duration: Duration = .zero) -> FleetView {
        let answered = ContinuousClock.now
        return FleetView(time: time, asked: answered - duration, answered: answered, size: 0, members: [])
    }

    static func later(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: now.milliseconds + milliseconds) }

    @Test("A change takes effect at its time by the database's clock")
    func ordinary() {
        let remaining = clock.remaining(until: Self.later(1000))
        #expect(remaining > .milliseconds(900) && remaining <= .milliseconds(1001))
    }

    @Test("A step of the database's clock neither undoes a change nor puts it off")
    func steps() {
        let effect = Self.later(1000)
        _ = clock.remaining(until: effect)
        clock.note(Self.view(Self.later(-3_600_000)))
        #expect(clock.remaining(until: effect) <= .milliseconds(1001))
        // A change that is first seen after the step waits no longer than any other.
        #expect(clock.remaining(until: Self.later(3000)) <= .milliseconds(1200))
    }

    @Test("A change that is seen late waits until the gateways that have not seen it have stopped")
    func late() {
        let remaining = clock.remaining(until: Self.later(-100))
        #expect(remaining > .milliseconds(400) && remaining <= .milliseconds(500))
    }

    @Test("A change of long ago is in effect")
    func past() { #expect(clock.remaining(until: Self.later(-60_000)) == .zero) }

    @Test("A slow reading of the clock does not count after an exact one")
    func slowReading() {
        clock.note(Self.view(Self.later(500_000), took: .seconds(3)))
        #expect(!clock.isOver(Self.later(100_000)))
    }

    @Test("Before the first reading, every change is in effect", arguments: [-1, 0, 1000, Int64.max])
    func unread(_ milliseconds: Int64) {
        #expect(FleetClock().remaining(until: Timestamp(milliseconds: milliseconds)) == .zero)
    }
}
