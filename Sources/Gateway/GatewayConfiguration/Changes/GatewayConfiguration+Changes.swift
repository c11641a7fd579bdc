extension GatewayConfiguration {
    /// The differences from `old`, sorted by path. A setting that only moved within the file is no difference.
    public func changes(from old: GatewayConfiguration) -> [ConfigurationChange] {
        let found = SettingTree.changes(from: .members(old.outline), to: .members(outline), at: "")
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
}
