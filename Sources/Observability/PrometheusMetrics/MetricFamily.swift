/// All series of one name.
struct MetricFamily: Sendable {
    let kind: MetricKind
    /// The name of the first request, before it is sanitised.
    let label: String
    var series: [LabelSet: any MetricSeries] = [:]
}

/// The line of a counter or gauge, or the lines of a histogram.
protocol MetricSeries: AnyObject, Sendable {
    func write(_ name: String, _ labels: LabelSet, to writer: inout ExpositionWriter)
}
