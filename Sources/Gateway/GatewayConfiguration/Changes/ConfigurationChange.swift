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
    public var description: String {
        "\(path): \(sentence)\(needsRestart ? ", which needs a restart" : "")."
    }

    private var sentence: String {
        switch kind {
        case .added: "is added" + (new.map { " as \($0)" } ?? "")
        case .removed: "is removed" + (old.map { "; it was \($0)" } ?? "")
        case .changed: old == new ? "changes in a part that is not shown" : "changes from \(old ?? "") to \(new ?? "")"
        }
    }
}
