import SigningKit

/// A setting, a section or a list of a configuration, as names and texts, to compare two configurations and to show
/// their differences.
struct SettingTree {
    /// As in a path: `rate`, or `[shop]` for an element.
    let name: String
    /// Identifies the same member in two configurations.
    let identity: String
    /// Nil for a section or a list.
    var text: String?
    /// Compared in place of the text, and may contain more.
    var compared = ""
    var needsRestart = false
    var members: [SettingTree] = []

    /// The maximum length of a shown value that was added or removed, in characters.
    private static let limit = 400

    static func setting(_ name: String, _ text: String, compared: String? = nil, needsRestart: Bool = false) -> Self {
        Self(name: name, identity: name, text: text, compared: compared ?? text, needsRestart: needsRestart)
    }

    /// A list whose order has no meaning.
    static func set(_ name: String, _ texts: [String]) -> Self {
        setting(name, "[" + texts.joined(separator: ", ") + "]", compared: texts.sorted().joined(separator: ", "))
    }

    static func group(_ name: String, identity: String? = nil, _ members: [Self]) -> Self {
        Self(
            name: name, identity: identity ?? name, needsRestart: members.contains(where: \.needsRestart),
            members: members)
    }

    static func element(_ name: String, identity: String? = nil, _ members: [Self]) -> Self {
        group("[\(name)]", identity: identity, members)
    }
}

extension SettingTree {
    static func changes(from old: [Self], to new: [Self], at path: String = "") -> [ConfigurationChange] {
        let (old, new) = (unique(old), unique(new))
        let known = Dictionary(old) { first, _ in first }
        let kept = Set(new.map(\.0))
        let removed = old.filter { !kept.contains($0.0) }.map { $0.1.change(.removed, at: path) }
        return removed
            + new.flatMap { identity, member in
                guard let former = known[identity] else { return [member.change(.added, at: path)] }
                guard let before = former.text, let after = member.text else {
                    return changes(from: former.members, to: member.members, at: member.path(below: path))
                }
                guard !former.compared.hasSameBytes(as: member.compared) else { return [] }
                return [
                    ConfigurationChange(
                        path: member.path(below: path), kind: .changed, old: before, new: after,
                        needsRestart: former.needsRestart)
                ]
            }
    }

    /// Makes identities unique: two accounts may have the same issuer ID, and two rules the same contents.
    private static func unique(_ members: [Self]) -> [(ExactText, Self)] {
        var counts: [ExactText: Int] = [:]
        return members.map { member in
            let identity = ExactText(member.identity)
            let count = counts[identity, default: 0]
            counts[identity] = count + 1
            return (count == 0 ? identity : ExactText("\(member.identity)\0\(count)"), member)
        }
    }

    private func change(_ kind: ConfigurationChange.Kind, at path: String) -> ConfigurationChange {
        let shown = shown
        let cut = shown.count > Self.limit ? shown.prefix(Self.limit) + "…" : shown
        let text = shown.isEmpty ? nil : cut
        return ConfigurationChange(
            path: self.path(below: path), kind: kind, old: kind == .removed ? text : nil,
            new: kind == .added ? text : nil, needsRestart: needsRestart)
    }

    private func path(below path: String) -> String {
        path.isEmpty || name.hasPrefix("[") ? path + name : "\(path).\(name)"
    }

    /// In YAML flow style; empty without contents.
    private var shown: String { text ?? Self.shown(members) }

    static func shown(_ members: [Self]) -> String {
        let isList = members.contains { $0.name.hasPrefix("[") }
        let texts = members.compactMap { member -> String? in
            let name = isList ? String(member.name.dropFirst().dropLast()) : member.name
            let value = member.shown
            guard value.isEmpty else { return "\(name): \(value)" }
            return isList ? name : nil
        }
        guard !texts.isEmpty else { return "" }
        return isList ? "[" + texts.joined(separator: ", ") + "]" : "{" + texts.joined(separator: ", ") + "}"
    }
}
