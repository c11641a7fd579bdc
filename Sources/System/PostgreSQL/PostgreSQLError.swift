import CLibPQ

/// An error of the server or of the connection to it.
public struct PostgreSQLError: Error, Hashable, Sendable {
    /// Five characters (PostgreSQL documentation, appendix A). Nil if the error is not from the server.
    public let code: String?
    /// One line.
    public let message: String

    public init(code: String? = nil, _ message: String) {
        self.code = code
        self.message = Self.line(message)
    }

    /// The error in the result of a statement.
    init(_ result: OpaquePointer?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        self.init(
            code: field(privyseal_pg_sqlstate),
            field(privyseal_pg_message) ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? "")
    }

    /// libpq ends its messages with a line end, and has a line for each server that it tried.
    private static func line(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix { $0.isWhitespace } }
        let line = lines.isEmpty ? "unknown error" : lines.joined(separator: "; ")
        return String(
            line.prefix(1000).filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } })
    }
}

extension PostgreSQLError: CustomStringConvertible {
    public var description: String { code.map { "\(message) (\($0))" } ?? message }
}
