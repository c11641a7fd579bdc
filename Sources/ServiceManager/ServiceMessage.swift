import Glibc

/// What a service tells the service manager (sd_notify(3)).
public enum ServiceMessage: Sendable {
    /// It serves: for the first time, or again after `reloading`.
    case ready
    /// It takes up a new configuration; `ready` must follow.
    case reloading
    case stopping
    /// One line for people; `systemctl status` shows it.
    case status(String)
    /// It is well: to be said again before the watchdog's interval is over.
    case watchdog

    /// Assignments, each on a line of its own, in UTF-8.
    var text: String {
        switch self {
        case .ready: "READY=1\n"
        // The time lets the manager tell this reload from one that it asks for meanwhile.
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
