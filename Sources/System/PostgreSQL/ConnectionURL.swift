import CLibPQ

/// The parameters in a URL of a database.
public struct ConnectionURL: Sendable {
    /// By keyword.
    public let parameters: [String: String]

    /// - Returns: nil if libpq cannot parse the URL. Its message could show a password.
    public init?(_ url: String) {
        guard let options = PQconninfoParse(url, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        self.parameters = parameters
    }
}
