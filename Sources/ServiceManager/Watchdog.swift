import Glibc

/// Tells the service manager now and then that the service is well (sd_watchdog_enabled(3)). When it falls silent, the
/// manager kills the process and starts another one.
public struct Watchdog: Sendable {
    /// After so much silence the manager acts.
    public let interval: Duration
    private let socket: NotifySocket

    /// - Returns: nil where no watchdog waits for this process.
    public init?(variable: (String) -> String? = Environment.variable) {
        guard let interval = Self.interval(variable: variable), let socket = NotifySocket(variable: variable) else {
            return nil
        }
        self.interval = interval
        self.socket = socket
    }

    /// What `WATCHDOG_USEC` says, in case `WATCHDOG_PID` is this process or not set.
    ///
    /// - Parameter process: the ID of the process that asks; nil for this one.
    public static func interval(
        variable: (String) -> String? = Environment.variable, process: Int32? = nil
    ) -> Duration? {
        guard let text = variable("WATCHDOG_USEC"), let microseconds = Int64(text), microseconds > 0 else { return nil }
        if let owner = variable("WATCHDOG_PID"), Int32(owner) != process ?? getpid() { return nil }
        return .microseconds(microseconds)
    }

    /// Asks at every half of the interval, and passes a yes on; until the task is cancelled.
    ///
    /// - Parameters:
    ///   - isWell: something that only a working service can answer. An answer that does not come is a no.
    ///   - pause: how to wait; a test brings its own.
    public func run(
        while isWell: @Sendable () async -> Bool,
        pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) async {
        while !Task.isCancelled {
            if await isWell() { socket.send(.watchdog) }
            do { try await pause(interval / 2) } catch { return }
        }
    }
}
