import Glibc

/// Reports to the service manager that the service works (sd_watchdog_enabled(3)); otherwise the manager restarts it.
public struct Watchdog: Sendable {
    /// The manager acts after this time without a report.
    public let interval: Duration
    private let socket: NotifySocket

    /// - Returns: nil if the manager expects no reports from this process.
    public init?(variable: (String) -> String? = Environment.variable) {
        guard let interval = Self.interval(variable: variable), let socket = NotifySocket(variable: variable) else {
            return nil
        }
        self.interval = interval
        self.socket = socket
    }

    /// The value of `WATCHDOG_USEC`, if `WATCHDOG_PID` is `process`, by default this one, or not set.
    public static func interval(
        variable: (String) -> String? = Environment.variable, process: Int32? = nil
    ) -> Duration? {
        guard let text = variable("WATCHDOG_USEC"), let microseconds = Int64(text), microseconds > 0 else { return nil }
        if let owner = variable("WATCHDOG_PID"), Int32(owner) != process ?? getpid() { return nil }
        return .microseconds(microseconds)
    }

    /// Calls `isWell` at every half of the interval and reports if it returns true, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - isWell: succeeds only in a working service. Without its answer there is no report.
    ///   - pause: how to wait; tests replace it.
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
