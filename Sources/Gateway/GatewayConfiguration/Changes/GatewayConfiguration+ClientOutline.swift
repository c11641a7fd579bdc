import Encodings
import SigningKit

extension GatewayConfiguration.Client {
    /// Without the name, which is in the path, and without absent settings.
    var outline: [SettingTree.Member] {
        var members: [SettingTree.Member] = []
        if isAdministrator { members.append(.setting("administrator", "true")) }
        members += [
            .group("tokens", tokens.map(\.outline)),
            .group("certificates", certificates.map { .element($0.claim.description, []) }),
            .group("uids", uids.map { .element($0.number.description, []) }),
            .group("allow", allow.enumerated().map { $1.outline(at: $0) }),
        ]
        if let rate { members.append(.group("rate", rate.outline)) }
        if let dailyQuota { members.append(.setting("dailyQuota", dailyQuota.description)) }
        return members
    }
}

extension GatewayConfiguration.ClientToken {
    fileprivate var outline: SettingTree.Member {
        .element(
            description, identity: Hexadecimal.encode(digest),
            expires.map { [.setting("expires", $0.configurationText, compared: $0.milliseconds.description)] } ?? [])
    }
}

extension GatewayConfiguration.Rate {
    fileprivate var outline: [SettingTree.Member] {
        [.setting("perSecond", Decimal.text(perSecond)), .setting("burst", burst.description)]
    }
}

extension GatewayConfiguration.Rule {
    /// The contents of a rule are its identity, because the order of rules has no meaning.
    fileprivate func outline(at index: Int) -> SettingTree.Member {
        let parts = [("products", products), ("offers", offers), ("keyIds", keyIDs)].filter { !$0.1.isEmpty }
        let members = ([("apps", apps), ("features", features)] + parts).map { name, patterns in
            SettingTree.Member.set(name, patterns.map(\.text))
        }
        return .element(index.description, identity: SettingTree.members(members).shown, members)
    }
}
