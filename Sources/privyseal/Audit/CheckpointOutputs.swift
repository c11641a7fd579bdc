import Foundation
import NIOPosix
import SigningGateway

/// Checkpoints on standard output, for whoever collects that; an empty line behind each.
struct StandardOutputCheckpoints: CheckpointDestination {
    var name: String { "stdout" }

    func send(_ note: String) async throws {
        // A pipe that nobody reads makes its writer wait.
        try await NIOThreadPool.singleton.runIfActive {
            try FileHandle.standardOutput.write(contentsOf: Data("\(note)\n".utf8))
        }
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
        try await NIOThreadPool.singleton.runIfActive {
            line.withCString { text in withVaList([text]) { vsyslog(LOG_NOTICE, "%s", $0) } }
        }
    }
}
