import AuditLog
import Foundation
import Glibc
import NIOPosix

/// Writes checkpoints to standard output, each followed by an empty line.
struct StandardOutputCheckpoints: CheckpointDestination {
    var name: String { "stdout" }

    func send(_ note: String) async throws {
        // Writing to a full pipe blocks.
        try await NIOThreadPool.singleton.runIfActive {
            let output = AuditOutput.standard
            output.write(Array("\(note)\n".utf8))
            try output.finish()
        }
    }
}

/// Writes checkpoints to syslog(3), facility authpriv. A message is one line, so `|` joins the lines.
struct SyslogCheckpoints: CheckpointDestination {
    var name: String { "syslog" }

    init() {
        // Nil is the program's own name. Another string would have to outlive the process.
        openlog(nil, LOG_PID, LOG_AUTHPRIV)
    }

    /// syslog(3) does not report whether a daemon received the message.
    private static func requireListener() throws {
        var reason = EINVAL
        for kind in [SOCK_DGRAM, SOCK_STREAM] {
            let descriptor = socket(AF_UNIX, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { if descriptor >= 0 { close(descriptor) } }
            if descriptor >= 0, connect(descriptor) == 0 { return }
            reason = errno
            if reason != EPROTOTYPE { break }
        }
        throw AuditSetupError("No process listens at \(Self.path): \(String(cString: strerror(reason))).")
    }

    /// `_PATH_LOG` of <sys/syslog.h>.
    private static let path = "/dev/log"

    private static func connect(_ descriptor: Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    func send(_ note: String) async throws {
        let line = "checkpoint " + note.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "|")
        try await NIOThreadPool.singleton.runIfActive {
            try Self.requireListener()
            line.withCString { text in withVaList([text]) { vsyslog(LOG_NOTICE, "%s", $0) } }
        }
    }
}
