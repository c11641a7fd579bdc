import Glibc
import ServiceManager
import Synchronization
import Testing

@Suite("The watchdog")
struct WatchdogTests {
    static func interval(_ variables: [String: String]) -> Duration? {
        Watchdog.interval(variable: { variables[$0] }, process: 42)
    }

    @Test("the interval applies to the named process, or to any process if none is named")
    func interval() {
        #expect(Self.interval(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(Self.interval(["WATCHDOG_USEC": "1500", "WATCHDOG_PID": "42"]) == .microseconds(1500))
    }

    @Test(
        "a missing, invalid or foreign interval gives no interval",
        arguments: [
            [:], ["WATCHDOG_PID": "42"], ["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"],
            ["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "x"], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "-1"],
            ["WATCHDOG_USEC": "30s"], ["WATCHDOG_USEC": ""],
        ] as [[String: String]])
    func noInterval(_ variables: [String: String]) {
        #expect(Self.interval(variables) == nil)
    }

    @Test("the watchdog reports only a healthy service, twice in each interval")
    func run() async throws {
        let listener = try #require(Listener(.abstract))
        let address = listener.address
        let watchdog = try #require(
            Watchdog { name in ["NOTIFY_SOCKET": address, "WATCHDOG_USEC": "10000000"][name] })
        let answers = Mutex([true, true, false, true])
        let pauses = Mutex([Duration]())
        await watchdog.run {
            answers.withLock { $0.removeFirst() }
        } pause: { duration in
            pauses.withLock { $0.append(duration) }
            if answers.withLock({ $0.isEmpty }) { throw CancellationError() }
        }
        #expect(pauses.withLock { $0 } == Array(repeating: .seconds(5), count: 4))
        for _ in 0..<3 { #expect(listener.receive() == "WATCHDOG=1\n") }
        #expect(listener.receive() == nil)
    }

    @Test("there is no watchdog without a socket")
    func noSocket() {
        #expect(Watchdog { name in name == "WATCHDOG_USEC" ? "1000" : nil } == nil)
    }
}
