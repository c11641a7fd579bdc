public import SigningKit

/// Where a log is, and what a store needs to open it.
public struct AuditLocation: Sendable {
    /// A path or a URL. It holds no password.
    public let text: String
    /// Selects the log in a database with several logs; nil for the only one.
    public var origin: String?
    /// Reads the password of the database each time a connection is opened; nil if it needs none.
    public var password: (@Sendable () throws(KeyError) -> Secret)?
    public var durability = AuditDurability.replicated
    /// Whether readers use the server that accepts writes. Another one may be behind.
    public var readsPrimary = false

    public init(_ text: String, origin: String? = nil) {
        self.text = text
        self.origin = origin
    }
}

extension AuditLocation: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(text) }
}

/// What must hold an entry before its signature is released.
public enum AuditDurability: String, CaseIterable, Sendable {
    /// The database server and a synchronous standby.
    case replicated
    /// The disk of one database server. Entries may be lost if that server is lost.
    case oneServer
}

/// What a process opens a log for.
public enum AuditRole: Sendable {
    /// A gateway, which serves requests. There is one for each log.
    case gateway
    /// A command, beside the gateway or without one.
    case command
}
