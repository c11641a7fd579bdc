/// A client that differs between two configurations.
public struct ClientChange: Hashable, Sendable {
    public let name: String
    public let kind: ConfigurationChange.Kind
}

extension GatewayConfiguration {
    /// The clients that differ from `old`, sorted by name, with one element for each client.
    public func clientChanges(from old: GatewayConfiguration) -> [ClientChange] {
        let before = Dictionary(old.clients.map { ($0.name, $0) }) { first, _ in first }
        let after = Dictionary(clients.map { ($0.name, $0) }) { first, _ in first }
        return Set(before.keys).union(after.keys).sorted().compactMap { name in
            switch (before[name], after[name]) {
            case (nil, nil): nil
            case (nil, _?): ClientChange(name: name, kind: .added)
            case (_?, nil): ClientChange(name: name, kind: .removed)
            case (let old?, let new?): new.differs(from: old) ? ClientChange(name: name, kind: .changed) : nil
            }
        }
    }
}

extension GatewayConfiguration.Client {
    fileprivate func differs(from old: Self) -> Bool {
        !SettingTree.changes(from: .members(old.outline), to: .members(outline), at: name).isEmpty
    }
}
