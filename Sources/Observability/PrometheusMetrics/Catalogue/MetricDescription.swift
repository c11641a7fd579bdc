/// Describes a metric for `# HELP` lines, the operators' documentation, and tests of dashboards and alert rules.
public struct MetricDescription: Sendable {
    public let name: String
    public let kind: MetricKind
    /// The names of its labels, sorted, without a histogram's `le`.
    public let labels: [String]
    /// One sentence, with the unit if the name lacks it.
    public let help: String

    public init(_ name: String, _ kind: MetricKind, by labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels.sorted()
        self.help = help
    }
}

/// The kinds of a `# TYPE` line.
public enum MetricKind: String, Sendable {
    case counter, gauge, histogram
}
