/// All series of one name.
struct MetricFamily: Sendable {
    let kind: MetricKind
    /// As it was asked for first.
    let label: String
    var series: [LabelSet: any MetricSeries] = [:]
}

/// One line of a counter or gauge, or the lines of one histogram.
protocol MetricSeries: AnyObject, Sendable {
    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter)
}
