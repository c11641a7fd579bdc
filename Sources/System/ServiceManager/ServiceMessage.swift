import Glibc

/// A message to the service manager (sd_notify(3)).
public enum ServiceMessage: Sendable {
    /// The service is ready: for the first time, or again after `reloading`.
    case ready
    /// The service loads a new configuration; `ready` must follow.
    case reloading
    case stopping
    /// One line for the administrator, shown by `systemctl status`.
    case status(String)
    /// The service works. The next report is due within the watchdog's interval.
    case watchdog

    /// Assignments in UTF-8, one per line.
    var text: String {
        switch self {
        case .ready: "READY=1\n"
        // The time lets the manager distinguish this reload from one that it requests meanwhile.
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds())\n"
        case .stopping: "STOPPING=1\n"
        case .status(let line): "STATUS=\(Self.oneLine(line))\n"
        case .watchdog: "WATCHDOG=1\n"
        }
    }

    /// A line break would begin another assignment.
    private static func oneLine(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }

    private static func monotonicMicroseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
    }
}
