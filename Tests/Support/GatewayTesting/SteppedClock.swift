package import SigningKit
import Synchronization

/// A wall clock that a test can step (`set`), and a monotonic clock; `advance` moves both.
package final class SteppedClock: Sendable {
    private struct Reading {
        var wall = Timestamp(milliseconds: 1_801_439_993_000)
        var uptime = Duration.seconds(100)
    }

    private let reading = Mutex(Reading())

    package init() {}

    package var now: Timestamp { reading.withLock { $0.wall } }
    package var uptime: Duration { reading.withLock { $0.uptime } }

    package func advance(by duration: Duration) {
        reading.withLock { reading in
            reading.uptime += duration
            reading.wall = Self.time(reading.wall, plus: duration)
        }
    }

    package func set(by duration: Duration) {
        reading.withLock { $0.wall = Self.time($0.wall, plus: duration) }
    }

    private static func time(_ time: Timestamp, plus duration: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds + Int64(duration / .milliseconds(1)))
    }
}
