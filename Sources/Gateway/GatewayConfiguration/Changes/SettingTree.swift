import SigningKit

/// A configuration as names and texts, to compare two configurations and to show their differences.
indirect enum SettingTree {
    /// `compared` may contain more than `shown`.
    case text(shown: String, compared: String, needsRestart: Bool)
    case members([Member])

    struct Member {
        /// As in a path: `rate`, or `[shop]` for an element.
        let name: String
        /// Identifies the same member in two configurations.
        let identity: String
        let value: SettingTree
    }

    /// The maximum length of a shown value that was added or removed, in characters.
    private static let limit = 400
}

extension SettingTree.Member {
    static func setting(
        _ name: String, _ text: String, compared: String? = nil, needsRestart: Bool = false
    ) -> Self {
        Self(
            name: name, identity: name,
            value: .text(shown: text, compared: compared ?? text, needsRestart: needsRestart))
    }

    /// A list whose order has no meaning.
    static func set(_ name: String, _ texts: [String]) -> Self {
        setting(name, "[" + texts.joined(separator: ", ") + "]", compared: texts.sorted().joined(separator: ", "))
    }

    static func group(_ name: String, _ members: [Self]) -> Self {
        Self(name: name, identity: name, value: .members(members))
    }

    static func element(_ name: String, identity: String? = nil, _ members: [Self]) -> Self {
        Self(name: "[\(name)]", identity: identity ?? name, value: .members(members))
    }
}

extension SettingTree {
    static func changes(from old: Self, to new: Self, at path: String) -> [ConfigurationChange] {
        switch (old, new) {
        case (.text(let before, let comparedBefore, let restart), .text(let after, let comparedAfter, _)):
            guard !comparedBefore.hasSameBytes(as: comparedAfter) else { return [] }
            return [ConfigurationChange(path: path, kind: .changed, old: before, new: after, needsRestart: restart)]
        case (.members(let before), .members(let after)):
            let (before, after) = (unique(before), unique(after))
            let known = Dictionary(before) { first, _ in first }
            let kept = Dictionary(after) { first, _ in first }
            let removed = before.filter { kept[$0.0] == nil }.map { change(.removed, $0.1, path) }
            return removed
                + after.flatMap { identity, member in
                    guard let old = known[identity] else { return [change(.added, member, path)] }
                    return changes(from: old.value, to: member.value, at: join(path, member.name))
                }
        case (.text, .members), (.members, .text):
            return [
                ConfigurationChange(
                    path: path, kind: .changed, old: old.shown, new: new.shown,
                    needsRestart: old.needsRestart || new.needsRestart)
            ]
        }
    }

    /// Makes identities unique: two accounts may have the same issuer ID, and two rules the same contents.
    private static func unique(_ members: [Member]) -> [(ExactText, Member)] {
        var counts: [ExactText: Int] = [:]
        return members.map { member in
            let identity = ExactText(member.identity)
            let count = counts[identity, default: 0]
            counts[identity] = count + 1
            return (count == 0 ? identity : ExactText("\(member.identity)\0\(count)"), member)
        }
    }

    private static func change(
        _ kind: ConfigurationChange.Kind, _ member: Member, _ path: String
    ) -> ConfigurationChange {
        let text = member.value.shown.isEmpty ? nil : member.value.cut
        return ConfigurationChange(
            path: join(path, member.name), kind: kind, old: kind == .removed ? text : nil,
            new: kind == .added ? text : nil,
            needsRestart: member.value.needsRestart)
    }

    private static func join(_ path: String, _ name: String) -> String {
        path.isEmpty || name.hasPrefix("[") ? path + name : "\(path).\(name)"
    }

    private var needsRestart: Bool {
        switch self {
        case .text(_, _, let needsRestart): needsRestart
        case .members(let members): members.contains { $0.value.needsRestart }
        }
    }

    /// In YAML flow style; empty without contents.
    var shown: String {
        switch self {
        case .text(let shown, _, _): return shown
        case .members(let members):
            let isList = members.contains { $0.name.hasPrefix("[") }
            let texts = members.compactMap { member -> String? in
                let name = isList ? String(member.name.dropFirst().dropLast()) : member.name
                let value = member.value.shown
                guard value.isEmpty else { return "\(name): \(value)" }
                return isList ? name : nil
            }
            guard !texts.isEmpty else { return "" }
            return isList ? "[" + texts.joined(separator: ", ") + "]" : "{" + texts.joined(separator: ", ") + "}"
        }
    }

    private var cut: String {
        let text = shown
        return text.count > Self.limit ? text.prefix(Self.limit) + "…" : text
    }
}
