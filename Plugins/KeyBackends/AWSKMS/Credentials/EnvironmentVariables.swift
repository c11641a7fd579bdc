import Glibc

/// The environment of the process. An empty variable counts as absent, as for AWS's tools.
struct EnvironmentVariables: Sendable {
    private let values: [String: String]?

    /// - Parameter values: in place of the environment of the process.
    init(_ values: [String: String]? = nil) {
        self.values = values
    }

    subscript(name: String) -> String? {
        let value = if let values { values[name] } else { getenv(name).map { String(cString: $0) } }
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether a variable is `true` in any case.
    func isTrue(_ name: String) -> Bool { self[name]?.lowercased() == "true" }
}
