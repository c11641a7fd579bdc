/// A client that differs between two configurations.
public struct ClientChange: Hashable, Sendable {
    public let name: String
    public let kind: ConfigurationChange.Kind
}

extension GatewayConfiguration {
    /// The clients that differ from `old`, sorted by name, with one element for each client.
    public func clientChanges(from old: GatewayConfiguration) -> [ClientChange] {
        let changes = changes(from: old).compactMap { change -> ClientChange? in
            guard let path = change.path.wholeMatch(of: /clients\[([^\]]*)\](.*)/) else { return nil }
            return ClientChange(name: String(path.1), kind: path.2.isEmpty ? change.kind : .changed)
        }
        return Set(changes).sorted { $0.name < $1.name }
    }
}
