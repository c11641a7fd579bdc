import Glibc

/// The service manager's notification socket (sd_notify(3)): datagrams without answers. An error here must not harm the
/// service, so nothing throws.
public struct NotifySocket: Sendable {
    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter variable: reads the environment.
    /// - Returns: nil if `NOTIFY_SOCKET` is not set or holds no valid address.
    public init?(variable: (String) -> String? = Environment.variable) {
        guard let address = variable("NOTIFY_SOCKET") else { return nil }
        self.init(address: address)
    }

    /// - Parameter address: an absolute path, or `@` and an abstract name; at most 107 bytes.
    public init?(address text: String) {
        guard text.hasPrefix("/") || text.hasPrefix("@"), !text.utf8.contains(0) else { return nil }
        var bytes = Array(text.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            // The last byte stays zero, to end a path.
            guard (2..<room.count).contains(bytes.count) else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        self.address = address
        // The length ends an abstract name, not a zero byte.
        length = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + bytes.count)
    }

    /// Sends several messages in one datagram, so that the manager processes them together. Waits for a second at most
    /// if the manager's queue is full: a lost `ready` would fail the start.
    ///
    /// - Returns: whether the manager has the messages.
    @discardableResult
    public func send(_ messages: ServiceMessage...) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let bytes = messages.map(\.text).joined().utf8.map { $0 }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length) == bytes.count
            }
        }
    }
}

/// A message to the service manager (sd_notify(3)).
public struct ServiceMessage: Sendable {
    /// Assignments in UTF-8, one per line.
    let text: String

    /// The service is ready: for the first time, or again after `reloading`.
    public static let ready = ServiceMessage(text: "READY=1\n")

    /// The service loads a new configuration; `ready` must follow.
    public static var reloading: ServiceMessage {
        // The time lets the manager distinguish this reload from one that it requests meanwhile.
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1000
        return ServiceMessage(text: "RELOADING=1\nMONOTONIC_USEC=\(microseconds)\n")
    }

    public static let stopping = ServiceMessage(text: "STOPPING=1\n")

    /// One line for the administrator, shown by `systemctl status`.
    public static func status(_ line: String) -> ServiceMessage { ServiceMessage(text: "STATUS=\(oneLine(line))\n") }

    /// The service works. The next report is due within the watchdog's interval.
    public static let watchdog = ServiceMessage(text: "WATCHDOG=1\n")

    /// A line break would begin another assignment.
    private static func oneLine(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }
}

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

/// The environment, with the variables that a service manager sets.
public enum Environment {
    public static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
