/// A difference between two configurations, for the log and reload trials. It contains no secret and no way to one.
public struct ConfigurationChange: Hashable, Sendable {
    public enum Kind: String, Sendable {
        case added, removed, changed
    }

    /// Contains names instead of indices if there are names, as in `clients[shop].rate.perSecond`.
    public let path: String
    public let kind: Kind
    /// The old value; nil if it was added. Equal to `new` if the difference is in a part that is not shown.
    public let old: String?
    /// The new value; nil if it was removed.
    public let new: String?
    /// Whether the change takes effect only after a restart of the gateway.
    public let needsRestart: Bool
}

extension ConfigurationChange: CustomStringConvertible {
    /// Such as `clients[shop].rate.perSecond: changes from 50 to 100.`
    public var description: String { "\(path): \(sentence)\(needsRestart ? ", which needs a restart" : "")." }

    private var sentence: String {
        switch kind {
        case .added: "is added" + (new.map { " as \($0)" } ?? "")
        case .removed: "is removed" + (old.map { "; it was \($0)" } ?? "")
        case .changed:
            old == new
                ? "changes in a part that is not shown: a secret, or the content of a file"
                : "changes from \(old ?? "") to \(new ?? "")"
        }
    }
}

/// A client that differs between two configurations.
public struct ClientChange: Hashable, Sendable {
    public let name: String
    public let kind: ConfigurationChange.Kind
}

extension GatewayConfiguration {
    /// The differences from `old`, sorted by path. A setting that only moved within the file is no difference.
    public func changes(from old: GatewayConfiguration) -> [ConfigurationChange] {
        let found = SettingTree.changes(from: old.outline, to: outline)
        // A rule has no name. One removed and one added at the same index are a changed rule.
        let paths = Dictionary(grouping: found, by: \.path)
        return paths.keys.sorted().flatMap { path -> [ConfigurationChange] in
            let changes = paths[path] ?? []
            guard changes.count == 2, let removed = changes.first(where: { $0.kind == .removed }),
                let added = changes.first(where: { $0.kind == .added })
            else { return changes }
            return [
                ConfigurationChange(
                    path: path, kind: .changed, old: removed.old, new: added.new,
                    needsRestart: removed.needsRestart || added.needsRestart)
            ]
        }
    }

    /// The clients that differ from `old`, sorted by name, with one element for each client.
    public func clientChanges(from old: GatewayConfiguration) -> [ClientChange] {
        let changes = changes(from: old).compactMap { change -> ClientChange? in
            guard let path = change.path.wholeMatch(of: /clients\[([^\]]*)\](.*)/) else { return nil }
            return ClientChange(name: String(path.1), kind: path.2.isEmpty ? change.kind : .changed)
        }
        return Set(changes).sorted { $0.name < $1.name }
    }
}
