import CoreMetrics
import PrometheusMetrics
import Testing

@Suite("The Prometheus exposition")
struct ExpositionTests {
    @Test("the exposition is sorted text format 0.0.4 with help, types and cumulative buckets")
    func golden() {
        var settings = PrometheusRegistry.Settings()
        settings.durationBuckets = [0.00005, 0.001, 1, 10]
        let catalogue = [
            MetricDescription("privyseal_metrics_dropped_series_total", .counter, "Times that a series was not kept."),
            MetricDescription("shop_requests_total", .counter, "Requests, with a \\ and\na second line."),
        ]
        let registry = PrometheusRegistry(settings: settings, catalogue: catalogue)
        let requests = ["signed", "refused"].map {
            Counter(label: "shop_requests_total", dimensions: [("outcome", $0), ("client", "b")], factory: registry)
        }
        requests[0].increment(by: 3)
        requests[1].increment()
        Meter(label: "shop_depth", factory: registry).set(2.5)
        let timer = Timer(label: "shop_duration_seconds", dimensions: [("token", "t")], factory: registry)
        for nanoseconds: Int64 in [50_000, 50_001, 2_000_000, 1_000_000_000, 20_000_000_000] {
            timer.recordNanoseconds(nanoseconds)
        }
        Recorder(label: "shop.batch", factory: registry).record(2)
        #expect(text(registry) == Self.golden)
    }

    private static let golden = #"""
        # HELP privyseal_metrics_dropped_series_total Times that a series was not kept.
        # TYPE privyseal_metrics_dropped_series_total counter
        privyseal_metrics_dropped_series_total 0
        # HELP shop_batch From swift-metrics, by the label shop.batch.
        # TYPE shop_batch gauge
        shop_batch 2
        # HELP shop_depth From swift-metrics, by the label shop_depth.
        # TYPE shop_depth gauge
        shop_depth 2.5
        # HELP shop_duration_seconds From swift-metrics, by the label shop_duration_seconds.
        # TYPE shop_duration_seconds histogram
        shop_duration_seconds_bucket{token="t",le="5e-05"} 1
        shop_duration_seconds_bucket{token="t",le="0.001"} 2
        shop_duration_seconds_bucket{token="t",le="1"} 4
        shop_duration_seconds_bucket{token="t",le="10"} 4
        shop_duration_seconds_bucket{token="t",le="+Inf"} 5
        shop_duration_seconds_sum{token="t"} 21.002100001
        shop_duration_seconds_count{token="t"} 5
        # HELP shop_requests_total Requests, with a \\ and\na second line.
        # TYPE shop_requests_total counter
        shop_requests_total{client="b",outcome="refused"} 1
        shop_requests_total{client="b",outcome="signed"} 3

        """#

    @Test(
        "the exposition escapes label values within their quotes",
        arguments: [
            (#"back\slash"#, #"back\\slash"#), (#"a "quote""#, #"a \"quote\""#), ("two\nlines", #"two\nlines"#),
            (#"\n"#, #"\\n"#), ("ключ 🔑", "ключ 🔑"), ("{}=,", "{}=,"), ("", ""),
        ])
    func escaping(_ value: String, _ escaped: String) {
        let registry = PrometheusRegistry()
        Counter(label: "x_total", dimensions: [("token", value)], factory: registry).increment()
        #expect(lines("x_total", registry) == ["x_total{token=\"\(escaped)\"} 1"])
    }

    @Test(
        "the smallest and the largest numbers are values like others",
        arguments: [Double(Int64.min), Double(Int64.max), -0x1p53, 0x1p53, -.greatestFiniteMagnitude])
    func extremes(_ value: Double) throws {
        let registry = PrometheusRegistry()
        Meter(label: "x", factory: registry).set(value)
        let line = try #require(lines("x", registry).first)
        #expect(Double(line.dropFirst("x ".count)) == value)
    }

    @Test(
        "names contain only the characters that Prometheus allows",
        arguments: [
            ("http.server.active", "http_server_active"), ("a b-c/d", "a_b_c_d"), ("7days", "_7days"),
            ("ns:rule", "ns:rule"), ("größe", "gr__e"), ("", "_"),
        ])
    func names(_ label: String, _ name: String) {
        let registry = PrometheusRegistry()
        Meter(label: label, dimensions: [(label, "v")], factory: registry).set(1)
        let labelName = name == "ns:rule" ? "ns_rule" : name
        #expect(lines(name, registry) == ["\(name){\(labelName)=\"v\"} 1"])
    }

    @Test("counter names end in _total and timer names in _seconds, each once")
    func suffixes() {
        let registry = PrometheusRegistry()
        for label in ["a", "b_total"] { Counter(label: label, factory: registry).increment() }
        for label in ["c", "d_seconds"] { Timer(label: label, factory: registry).recordSeconds(1) }
        let types = text(registry).split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
        #expect(
            types == [
                "# TYPE a_total counter", "# TYPE b_total counter", "# TYPE c_seconds histogram",
                "# TYPE d_seconds histogram", "# TYPE privyseal_metrics_dropped_series_total counter",
            ])
    }

    @Test(
        "numbers have the notation of Go",
        arguments: [
            (0, "0"), (-1.5, "-1.5"), (1_790_000_000, "1790000000"), (0.00005, "5e-05"), (1e300, "1e+300"),
            (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        ] as [(Double, String)])
    func numbers(_ value: Double, _ written: String) {
        let registry = PrometheusRegistry()
        Meter(label: "x", factory: registry).set(value)
        #expect(lines("x", registry) == ["x \(written)"])
    }

    @Test("a dimension cannot replace the le label of a histogram")
    func le() {
        let registry = PrometheusRegistry()
        Timer(label: "x_seconds", dimensions: [("le", "mine")], factory: registry).recordNanoseconds(1)
        #expect(lines("x_seconds", registry).first == "x_seconds_bucket{le_=\"mine\",le=\"5e-05\"} 1")
    }
}

func text(_ registry: PrometheusRegistry) -> String {
    String(decoding: registry.exposition(), as: UTF8.self)
}

func lines(_ name: String, _ registry: PrometheusRegistry) -> [String] {
    text(registry).split(separator: "\n").filter { $0.hasPrefix(name) }.map(String.init)
}
