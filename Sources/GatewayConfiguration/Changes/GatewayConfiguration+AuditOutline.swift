import SigningKit

extension GatewayConfiguration.Audit {
    /// The log is opened once, by one writer: none of it changes while there is one.
    var outline: [SettingOutline.Member] {
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
    fileprivate var outline: [SettingOutline.Member] {
        var members: [SettingOutline.Member] = [
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
