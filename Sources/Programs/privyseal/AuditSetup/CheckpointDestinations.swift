import AsyncHTTPClient
import AuditKit
import AuditLog
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import TransparencyLog

/// Writes checkpoints to standard output, each followed by an empty line.
struct StandardOutputCheckpoints: CheckpointDestination {
    var name: String { "stdout" }

    func send(_ note: String) async throws {
        // Writing to a full pipe blocks.
        try await NIOThreadPool.singleton.runIfActive { try StandardOutput.write(note) }
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
        throw CommandError("No process listens at \(Self.path): \(String(cString: strerror(reason))).")
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

/// The log of the fleet. Its checkpoints cover those of all gateways.
struct FleetCheckpoints: CheckpointDestination {
    var name: String { "fleet" }
    let log: AuditLog

    func send(_ note: String) async throws {
        let checkpoint = try Checkpoint(parsing: try SignedNote(parsing: note).text)
        try await log.record(.checkpoint(log: checkpoint.origin, size: checkpoint.size, note: note))
    }
}

/// Sends checkpoints as HTTP requests, to a machine that other administrators control.
struct PostedCheckpoints: CheckpointDestination {
    var name: String { "url" }
    private let url: String
    private let tokenFile: String?

    init(to url: String, tokenFile: String?) {
        self.url = url
        self.tokenFile = tokenFile
    }

    func send(_ note: String) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        if let tokenFile {
            // Read it each time, because the token may be replaced.
            request.headers.add(name: "Authorization", value: "Bearer \(try InputFile.token(in: tokenFile))")
        }
        request.body = .bytes(ByteBuffer(string: note))
        let status: UInt
        do {
            // A redirection counts as a failure: the request that follows it would not contain the checkpoint.
            var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
            configuration.tracing.tracer = nil
            status = try await HTTPClient.withHTTPClient(configuration: configuration) { [request] client in
                try await client.execute(request, timeout: .seconds(10)).status.code
            }
        } catch {
            throw CommandError("\(url) did not answer: \(Self.reason(for: error))")
        }
        guard (200..<300).contains(status) else { throw CommandError("\(url) answered \(status)") }
    }

    private static func reason(for error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: "\(error)"
        }
    }
}
