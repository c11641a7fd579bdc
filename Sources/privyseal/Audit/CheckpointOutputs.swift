import Glibc
import SigningGateway

/// Checkpoints on standard output, for whoever collects that.
struct StandardOutputCheckpoints: CheckpointDestination {
    var name: String { "stdout" }

    func send(_ note: String) async throws {
        print(note)
        fflush(stdout)
    }
}

/// Checkpoints in the system's log (syslog(3), facility authpriv): one message, its lines joined by `|`, because a message
/// is a line.
struct SyslogCheckpoints: CheckpointDestination {
    var name: String { "syslog" }

    init() {
        // Under the program's own name: another one would have to outlive the process.
        openlog(nil, LOG_PID, LOG_AUTHPRIV)
    }

    func send(_ note: String) async throws {
        let line = "checkpoint " + note.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "|")
        line.withCString { text in
            withVaList([text]) { vsyslog(LOG_NOTICE, "%s", $0) }
        }
    }
}
