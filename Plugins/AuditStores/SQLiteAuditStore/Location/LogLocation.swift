import AuditKit
import Glibc

/// Where a log is: a path, with or without `sqlite:` in front.
struct LogLocation: Hashable, Sendable {
    /// Absolute.
    let path: String

    init(_ text: String) throws(AuditStoreError) {
        let prefix = SQLiteAuditStore.scheme + ":"
        let path = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw .unfit(
                "'\(text)' is no path of an audit log: give the path of a file, such as /var/lib/privyseal/audit.db.")
        }
        self.path = path.hasPrefix("/") ? path : try Self.workingDirectory() + "/" + path
    }

    /// The database's own, wherever a symbolic link leads.
    var directory: String {
        let path = Self.resolved(path)
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Where symbolic links lead: SQLite keeps the files beside a database beside the file itself.
    static func resolved(_ path: String) -> String {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        return resolved.map { String(cString: $0) } ?? path
    }

    /// The search index beside it: the path without `.db` at its end, and `.index.db`.
    var index: String {
        (path.hasSuffix(".db") ? String(path.dropLast(3)) : path) + ".index.db"
    }

    private static func workingDirectory() throws(AuditStoreError) -> String {
        guard let buffer = getcwd(nil, 0) else {
            throw .failed(
                "There is no working directory to find the audit log from: \(String(cString: strerror(errno))).")
        }
        defer { free(buffer) }
        return String(cString: buffer)
    }
}
