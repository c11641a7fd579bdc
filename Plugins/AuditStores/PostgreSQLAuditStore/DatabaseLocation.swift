import AuditKit
import PostgreSQL
import SigningKit

/// The database in a location, with the parameters of its connections.
struct DatabaseLocation: Sendable {
    /// Without parameters, for messages.
    let name: String
    var origin: String?
    let durability: AuditDurability
    private let url: String
    private let password: (@Sendable () throws(KeyError) -> Secret)?
    /// Whether `sslmode` is `verify-full`, because the URL has none and a server may be on another machine.
    private let requiresCertificate: Bool
    /// Whether readers use the server that accepts writes: a standby may be behind.
    private let readsPrimary: Bool
    /// Whether all servers are on this machine.
    let isLocal: Bool

    init(_ location: AuditLocation) throws(AuditStoreError) {
        url = location.text
        name = String(url.prefix { $0 != "?" })
        origin = location.origin
        durability = location.durability
        readsPrimary = location.readsPrimary
        password = location.password
        let prefix = PostgreSQLAuditStore.scheme + "://"
        guard url.hasPrefix(prefix), url.utf8.count <= 4096, !url.utf8.contains(0),
            let parameters = ConnectionURL(url)?.parameters
        else {
            throw .unfit(
                "The location of the audit log is not the URL of a database: give one such as "
                    + "\(prefix)privyseal@db.example.com/privyseal?sslmode=verify-full.")
        }
        guard (parameters["password"] ?? "").isEmpty, parameters["passfile"] == nil else {
            throw .unfit(
                "The URL of the audit log's database holds a password, or names a file with one: remove it, and give "
                    + "audit.passwordSource. Commands without a configuration use PGPASSFILE.")
        }
        let hosts = [parameters["host"], parameters["hostaddr"]].compactMap(\.self)
            .flatMap { $0.split(separator: ",", omittingEmptySubsequences: true) }
        // Without a host, libpq may take one from its environment or from a service file.
        isLocal = !hosts.isEmpty && hosts.allSatisfy(Self.isLocal)
        requiresCertificate = !isLocal && parameters["sslmode"] == nil
        if !isLocal, let mode = parameters["sslmode"], mode != "verify-full" {
            throw .unfit(
                "\(name) may be on another machine, and sslmode=\(mode) does not verify which one: give "
                    + "sslmode=verify-full, and sslrootcert with the certificate of its authority.")
        }
    }

    /// A Unix socket's directory, or an address of this machine.
    private static func isLocal(_ host: Substring) -> Bool {
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false)
        let isLoopback = bytes.count == 4 && bytes[0] == "127" && bytes.allSatisfy { UInt8($0) != nil }
        return host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || isLoopback || host == "::1"
    }

    enum Access {
        /// - Parameter timeout: how long to wait for the lock of another transaction.
        case readWrite(timeout: Duration)
        case readOnly

        fileprivate var writes: Bool { if case .readWrite = self { true } else { false } }

        /// How long to wait for an answer of the server. A lock that is not free must be reported by the server.
        fileprivate var answerLimit: Duration {
            switch self {
            case .readOnly: .seconds(10)
            case .readWrite(let timeout): max(.seconds(10), timeout + .seconds(5))
            }
        }
    }

    /// - Throws: `.failed` if there is no connection. libpq does not say whether that may pass.
    func connect(for access: Access) throws(AuditStoreError) -> Connection {
        var parameters: [(keyword: String, value: String)] = [
            ("fallback_application_name", "privyseal"), ("connect_timeout", "5"),
            // A silent network ends a connection after about ten seconds.
            ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "10000"),
        ]
        if requiresCertificate { parameters.append(("sslmode", "verify-full")) }
        if access.writes || readsPrimary { parameters.append(("target_session_attrs", "read-write")) }
        parameters += [("dbname", url), ("client_encoding", "UTF8")]
        if let password {
            do throws(KeyError) {
                parameters.append(("password", try password().withBytes { String(decoding: $0, as: UTF8.self) }))
            } catch {
                throw .unfit("The password of the audit log's database cannot be read. \(error)")
            }
        }
        do throws(PostgreSQLError) {
            let connection = try Connection(parameters, timeout: access.answerLimit)
            for setting in settings(for: access) { try connection.execute("SET \(setting)") }
            return connection
        } catch {
            throw failure(error)
        }
    }

    private func settings(for access: Access) -> [String] {
        switch access {
        case .readOnly: return ["default_transaction_read_only = on"]
        case .readWrite(let timeout):
            return [
                // A stopped gateway must not hold the row of its log, or of the fleet's.
                "idle_in_transaction_session_timeout = '3s'",
                // 0 would wait without a limit.
                "lock_timeout = \(max(1, timeout.milliseconds))",
                // The server reports a commit whose wait for the standby was cancelled as a warning.
                "client_min_messages = warning",
                // A cancelled commit may be on the disk of this server only, so no time limit may cancel one.
                "statement_timeout = 0",
            ]
        }
    }

    func failure(_ error: PostgreSQLError) -> AuditStoreError {
        let code = error.code ?? ""
        func sentence(_ text: String) -> String { "\(text): \(error)." }
        switch code {
        case "42501": return .readOnly(sentence("The user has no right to use the audit log in \(name)"))
        case "25006": return .readOnly(sentence("The database \(name) is read-only"))
        case "55P03": return .busy(sentence("Another process has locked the audit log in \(name)"))
        case "53100": return .full(sentence("No space is left for the audit log in \(name)"))
        case "23505": return .damaged(sentence("The audit log in \(name) already has an entry with this index"))
        case "XX001", "XX002": return .damaged(sentence("The audit log in \(name) is damaged"))
        // The statements are correct, so the tables must be wrong.
        case "42P01", "42703", "42804", "3F000", "42883":
            return .damaged(sentence("The audit log in \(name) has a changed schema"))
        default: return .failed(sentence("The audit log in \(name) could not be used"))
        }
    }
}
