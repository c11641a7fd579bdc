/// One difference between two configurations, for the log and for who tries a reload out. Nothing in it is a secret or
/// leads to one.
public struct ConfigurationChange: Hashable, Sendable {
    public enum Kind: String, Sendable {
        case added, removed, changed
    }

    /// With names instead of indexes where there are names, as in `clients[shop].rate.perSecond`.
    public let path: String
    public let kind: Kind
    /// What was there; nil when it was added. Equal to `new` when the difference is in a part that is not shown.
    public let old: String?
    /// What is there now; nil when it was removed.
    public let new: String?
    /// Whether it has no effect until the gateway is started again.
    public let needsRestart: Bool
}

extension ConfigurationChange: CustomStringConvertible {
    /// `clients[shop].rate.perSecond: changes from 50 to 100.`
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
