extension GatewayConfiguration {
    /// What is different from `old`, by path. What has another place in the file, but says the same, is no difference.
    public func changes(from old: GatewayConfiguration) -> [ConfigurationChange] {
        let found = SettingOutline.changes(from: old.outline, to: outline, at: "")
        // A rule has no name: when one at an index gave way to another, it was changed.
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
