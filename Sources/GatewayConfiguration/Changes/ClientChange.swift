/// A client that is there in one of two configurations only, or not the same in both.
public struct ClientChange: Hashable, Sendable {
    public let name: String
    public let kind: ConfigurationChange.Kind
}

extension GatewayConfiguration {
    /// The clients that `old` has otherwise, by name; in one line each, whatever it is about them.
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
        !SettingOutline.changes(from: .members(old.outline), to: .members(outline), at: name).isEmpty
    }
}
