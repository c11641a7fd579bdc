import Foundation
import SigningKit

extension GatewayConfiguration {
    /// Where the audit log is: a file, or a database on a server.
    public struct AuditDatabase: Sendable {
        /// A path or a URL. It holds no password.
        public let text: String
        public let origin: ConfigurationOrigin
        /// The SQLite database; nil for a database on a server.
        public let file: File?

        /// The private keys that libpq may use for this database.
        public var keyFiles: [String] {
            guard file == nil else { return [] }
            let given = text.split(separator: "?", maxSplits: 1).dropFirst().flatMap { $0.split(separator: "&") }
                .filter { $0.hasPrefix("sslkey=") }.compactMap { $0.dropFirst("sslkey=".count).removingPercentEncoding }
            return given + [NSHomeDirectory() + "/.postgresql/postgresql.key"]
        }

        /// Not read yet.
        static let none = AuditDatabase(text: "", origin: .unknown, file: nil)
    }
}

extension SettingKind<GatewayConfiguration.AuditDatabase> {
    static func auditDatabase(such example: String) -> Self {
        let path = SettingKind<GatewayConfiguration.File>.absolutePath(
            of: "file", such: example, optionalPrefix: "sqlite:")
        return Self(
            values: "absolute path, with or without `sqlite:` in front; or a `postgresql:` URL",
            read: { node, findings in
                guard case .scalar(let text, _) = node.content, text.hasPrefix("postgres") else {
                    return path.read(node, findings).map {
                        GatewayConfiguration.AuditDatabase(text: $0.path, origin: $0.origin, file: $0)
                    }
                }
                return node.parsed(findings) { text throws(InvalidValue) in
                    try checkURL(text)
                    return GatewayConfiguration.AuditDatabase(text: text, origin: node.origin, file: nil)
                }
            }, text: { $0.text.isEmpty ? nil : $0.text })
    }

    /// The store parses the URL. This finds what must not be in the configuration; no message repeats the text.
    private static func checkURL(_ url: String) throws(InvalidValue) {
        try require(
            url.hasPrefix("postgresql://") && url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                && url.utf8.count <= 2048,
            "must be the URL of a database, such as "
                + "postgresql://privyseal@db.example.com/privyseal?sslmode=verify-full&sslrootcert=/etc/privyseal/db.pem"
        )
        let authority = url.dropFirst("postgresql://".count).prefix { $0 != "/" && $0 != "?" }
        let hasPassword = authority.lastIndex(of: "@").map { authority[..<$0].contains(":") } ?? false
        let names = url.split(separator: "?", maxSplits: 1).dropFirst().flatMap { $0.split(separator: "&") }
            .map { $0.prefix { $0 != "=" }.lowercased() }
        try require(
            !hasPassword && !names.contains { $0.contains("pass") },
            "holds a password, or names a file with one; remove it, and give audit.passwordSource")
    }
}

extension SettingKind<String> {
    /// The source of a secret.
    static var passwordSource: Self {
        .parsed("`file:/absolute/path` or `credential:NAME`") { text throws(InvalidValue) in
            try require(
                text.hasPrefix("file:/") || text.hasPrefix("credential:"),
                "must be file:/absolute/path or credential:NAME, not the password itself")
            return text
        }
    }
}
