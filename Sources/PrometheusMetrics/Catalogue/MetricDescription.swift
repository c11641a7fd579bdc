/// What a metric is, for its `# HELP` line, the operators' documentation, and the tests that hold dashboards and alert
/// rules to it.
public struct MetricDescription: Sendable {
    public let name: String
    public let kind: MetricKind
    /// Names of its labels, sorted; without a histogram's `le`.
    public let labels: [String]
    /// One sentence, with the unit where the name does not have it.
    public let help: String

    public init(_ name: String, _ kind: MetricKind, by labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels.sorted()
        self.help = help
    }
}

/// As in a `# TYPE` line.
public enum MetricKind: String, Sendable {
    case counter, gauge, histogram
}
