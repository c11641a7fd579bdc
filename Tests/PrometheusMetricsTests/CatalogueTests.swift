import CoreMetrics
import PrometheusMetrics
import Testing

@Suite("The metric catalogue")
struct CatalogueTests {
    @Test("every metric has a valid Prometheus name and a help sentence", arguments: MetricCatalogue.all)
    func wellFormed(_ metric: MetricDescription) throws {
        #expect(metric.name.wholeMatch(of: /(privyseal|process)_[a-z_]+/) != nil)
        #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter))
        #expect(metric.help.hasSuffix(".") && metric.help.count <= 120)
        for label in metric.labels { #expect(label.wholeMatch(of: /[a-z_]+/) != nil) }
    }

    @Test("metric names are unique")
    func unique() {
        let names = MetricCatalogue.all.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test("the exposition shows the help of a catalogue metric")
    func help() {
        let registry = PrometheusRegistry()
        Counter(label: "privyseal_unauthenticated_total", factory: registry).increment()
        #expect(text(registry).contains("# HELP privyseal_unauthenticated_total Requests of unknown clients.\n"))
    }
}
