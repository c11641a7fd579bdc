/// The location of a configuration value.
public struct ConfigurationOrigin: Hashable, Sendable {
    /// The file's path as the caller gave it, or the name of an environment variable.
    public let source: String
    /// In the file, counted from 1; nil for a variable and for the file as a whole.
    public let line: Int?
    /// In characters from the start of the line, counted from 1.
    public let column: Int?
    /// Keys and indices from the root, as in `accounts[0].keys[1].uri`; empty for the root and for a variable.
    public let path: String

    /// Of a value that is not read yet.
    static let unknown = ConfigurationOrigin(source: "")

    init(source: String, line: Int? = nil, column: Int? = nil, path: String = "") {
        self.source = source
        self.line = line
        self.column = column
        self.path = path
    }

    /// The origin of the value under `name`, with the parent's line and column.
    func child(_ name: String) -> ConfigurationOrigin { at(path: path.isEmpty ? name : "\(path).\(name)") }

    func child(_ index: Int) -> ConfigurationOrigin { at(path: "\(path)[\(index)]") }

    private func at(path: String) -> ConfigurationOrigin {
        ConfigurationOrigin(source: source, line: line, column: column, path: path)
    }

    func at(line: Int, column: Int) -> ConfigurationOrigin {
        ConfigurationOrigin(source: source, line: line, column: column, path: path)
    }
}

extension ConfigurationOrigin: CustomStringConvertible {
    /// Such as `gateway.yaml:14: accounts[0].keys[1].uri`, or `PRIVYSEAL_LISTEN`.
    public var description: String {
        source + (line.map { ":\($0)" } ?? "") + (path.isEmpty ? "" : ": \(path)")
    }
}
