import SigningKit

extension GatewayConfiguration.Audit {
    /// Every setting needs a restart, because the gateway opens the log once.
    var outline: [SettingTree.Member] {
        [
            .setting("database", database.path, needsRestart: true),
            .setting("key", key.path, needsRestart: true),
        ] + (origin.map { [.setting("origin", $0, needsRestart: true)] } ?? []) + [
            .setting("writeTimeout", writeTimeout.outline, needsRestart: true),
            .setting("reserve", "\(reserveBytes >> 20) MiB", needsRestart: true),
            .group("checkpoints", checkpoints.outline),
        ]
    }
}

extension GatewayConfiguration.Checkpoints {
    fileprivate var outline: [SettingTree.Member] {
        var members: [SettingTree.Member] = [
            .setting("interval", interval.outline, needsRestart: true),
            .setting("file", file.path, needsRestart: true),
            .setting("output", output.rawValue, needsRestart: true),
        ]
        if let endpoint { members.append(.setting("url", endpoint.text, needsRestart: true)) }
        if let tokenFile { members.append(.setting("tokenFile", tokenFile.path, needsRestart: true)) }
        if let cosigner {
            let uri = cosigner.uri
            members.append(.setting("cosigner", uri.description, compared: uri.text, needsRestart: true))
        }
        return members
    }
}
