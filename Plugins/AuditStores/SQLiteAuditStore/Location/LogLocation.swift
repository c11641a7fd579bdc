import AuditKit
import Glibc

/// The location of a log: a path with an optional `sqlite:` prefix.
struct LogLocation: Hashable, Sendable {
    /// Absolute.
    let path: String

    init(_ text: String) throws(AuditStoreError) {
        let prefix = SQLiteAuditStore.scheme + ":"
        let path = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw .unfit(
                "'\(text)' is not the path of an audit log: give the path of a file, such as "
                    + "/var/lib/privyseal/audit.db.")
        }
        self.path = path.hasPrefix("/") ? path : try Self.workingDirectory() + "/" + path
    }

    /// The directory of the database file, after symbolic links are resolved.
    var directory: String {
        let path = Self.resolved(path)
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Resolves symbolic links: SQLite keeps the -wal and -shm files beside the resolved file.
    static func resolved(_ path: String) -> String {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        return resolved.map { String(cString: $0) } ?? path
    }

    /// The path of the search index: `.index.db` instead of `.db` at the end.
    var index: String {
        (path.hasSuffix(".db") ? String(path.dropLast(3)) : path) + ".index.db"
    }

    private static func workingDirectory() throws(AuditStoreError) -> String {
        guard let buffer = getcwd(nil, 0) else {
            throw .failed(
                "The working directory, which the path of the audit log needs, cannot be read: "
                    + "\(String(cString: strerror(errno))).")
        }
        defer { free(buffer) }
        return String(cString: buffer)
    }
}
