import Foundation
import ProgramTesting
import Synchronization

/// A PostgreSQL server for tests, which listens on a Unix socket in its own directory. It ends with this process.
package final class PostgreSQLServer: Sendable {
    /// The server that tests share. Each test creates its own database.
    package static let shared = Result { try PostgreSQLServer() }

    /// Contains `data/` and the socket.
    package let directory: String
    private let databases = Atomic(0)
    private let settings: [String]
    /// The shell that has started the server. The server runs until the shell's standard input is closed.
    private let shell = Mutex<(pid: pid_t, input: FileHandle)?>(nil)

    /// - Parameter settings: more settings of the server, such as `synchronous_standby_names=none`.
    package init(settings: [String] = []) throws {
        // Short, because the path of a socket has at most 107 bytes (unix(7)).
        directory = "/tmp/privyseal-pg-\(UUID().uuidString.prefix(8).lowercased())"
        self.settings = settings
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Self.run("chown", [Self.user, directory])
        try Self.run("initdb", ["--pgdata", data, "--username", "postgres", "--auth", "trust", "--no-sync"])
        try start()
    }

    deinit {
        if let (pid, input) = shell.withLock({ $0 }) {
            try? input.close()
            Program.wait(for: pid)
        } else {
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    package func start() throws {
        let options = settings.flatMap { ["-c", $0] }
        let server =
            (["\(Self.programs)/postgres", "-D", data, "-k", directory, "-c", "listen_addresses="] + options)
            .map { "'\($0)'" }.joined(separator: " ")
        // When its input closes, also because this process is killed, the shell stops the server and removes its files.
        let (path, arguments) = Self.command(
            "/bin/sh",
            [
                "-c",
                """
                \(server) </dev/null >\(directory)/log 2>&1 &
                read -r line || { kill -INT $!; wait $!; rm -rf \(directory); }
                """,
            ])
        let pipe = Pipe()
        let null = FileHandle.nullDevice.fileDescriptor
        let pid = try Program.spawn(
            [path] + arguments, descriptors: [pipe.fileHandleForReading.fileDescriptor, null, null])
        shell.withLock { $0 = (pid, pipe.fileHandleForWriting) }
        for _ in 0..<600 {
            if (try? Self.run("pg_isready", ["--quiet", "--host", directory])) != nil { return }
            usleep(50_000)
        }
        let log = try? String(contentsOfFile: directory + "/log", encoding: .utf8)
        throw PostgreSQLTestError("The server did not start: \(log ?? "")")
    }

    /// Ends the server and all connections.
    package func stop() throws {
        guard let (pid, input) = shell.withLock({ $0.take() }) else { return }
        try input.write(contentsOf: Data("stop\n".utf8))
        Program.wait(for: pid)
        try Self.run("pg_ctl", ["stop", "--pgdata", data, "--mode", "fast", "--silent"])
    }

    /// - Returns: the URL of a new, empty database.
    package func makeDatabase() throws -> String {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        try execute("CREATE DATABASE \(name)")
        return url(of: name)
    }

    package func url(of database: String, user: String = "postgres") -> String {
        let host = directory.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://\(user)@/\(database)?host=\(host)"
    }

    /// Runs SQL as an administrator would.
    package func execute(_ sql: String, in database: String = "postgres") throws {
        try Self.run(
            "psql",
            [
                "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--host", directory, "--username", "postgres",
                "--dbname", database, "--command", sql,
            ])
    }

    private var data: String { directory + "/data" }

    // MARK: Programs

    /// The newest version in Debian's folder.
    private static let programs: String = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        return "/usr/lib/postgresql/\(versions.compactMap { Int($0) }.max() ?? 0)/bin"
    }()

    /// The server refuses to run as root.
    private static let user = geteuid() == 0 ? "postgres" : NSUserName()

    private static func command(_ program: String, _ arguments: [String]) -> (String, [String]) {
        if geteuid() == 0 { return ("/usr/sbin/runuser", ["-u", user, "--", program] + arguments) }
        return (program, arguments)
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let (path, arguments) =
            program == "chown" ? ("chown", arguments) : command("\(programs)/\(program)", arguments)
        let run = try ProgramRun(path, arguments)
        guard run.status == 0 else {
            throw PostgreSQLTestError("\(program) failed: \(String(decoding: run.errors, as: UTF8.self))")
        }
    }
}

package struct PostgreSQLTestError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
