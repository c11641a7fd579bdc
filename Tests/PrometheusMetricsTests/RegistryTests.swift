import CoreMetrics
import PrometheusMetrics
import Testing

@Suite("The metric registry")
struct RegistryTests {
    private let registry = PrometheusRegistry()

    @Test("the same name and dimensions give the same metric, in any order")
    func same() {
        let dimensions = [("feature", "f"), ("outcome", "signed")]
        let one = registry.makeCounter(label: "x_total", dimensions: dimensions)
        #expect(one === registry.makeCounter(label: "x_total", dimensions: dimensions.reversed()))
        #expect(one === registry.makeFloatingPointCounter(label: "x", dimensions: dimensions))
        #expect(one !== registry.makeCounter(label: "x_total", dimensions: [("feature", "f")]))
        let timer = registry.makeTimer(label: "t", dimensions: dimensions)
        #expect(timer === registry.makeTimer(label: "t", dimensions: dimensions.reversed()))
    }

    @Test("no update is lost under concurrent updates and scrapes")
    func concurrency() async {
        let counter = Counter(label: "x_total", factory: registry)
        let amounts = FloatingPointCounter(label: "y_total", factory: registry)
        let meter = Meter(label: "z", factory: registry)
        let timer = Timer(label: "t_seconds", factory: registry)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    for turn in 0..<5000 {
                        counter.increment()
                        amounts.increment(by: 0.5)
                        meter.increment(by: 2.0)
                        meter.decrement(by: 1.0)
                        timer.recordNanoseconds(1_000_000)
                        Counter(label: "made_total", dimensions: [("n", "\(turn % 7)")], factory: registry).increment()
                    }
                    if index == 0 { for _ in 0..<50 { _ = registry.exposition() } }
                }
            }
        }
        #expect(lines("x_total", registry) == ["x_total 40000"])
        #expect(lines("y_total", registry) == ["y_total 20000"])
        #expect(lines("z", registry) == ["z 40000"])
        #expect(lines("t_seconds_count", registry) == ["t_seconds_count 40000"])
        #expect(lines("t_seconds_sum", registry) == ["t_seconds_sum 40"])
        let made = lines("made_total", registry).compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(made.count == 7)
        #expect(made.reduce(0, +) == 40000)
    }

    @Test("series beyond the limit of a name share one series and are counted")
    func bound() {
        var settings = PrometheusRegistry.Settings()
        settings.seriesLimit = 3
        let registry = PrometheusRegistry(settings: settings)
        for index in 0..<10 {
            Counter(label: "x_total", dimensions: [("client", "c\(index)"), ("limit", "rate")], factory: registry)
                .increment()
        }
        // Existing series are still available.
        Counter(label: "x_total", dimensions: [("client", "c0"), ("limit", "rate")], factory: registry).increment()
        #expect(
            lines("x_total", registry) == [
                "x_total{client=\"c0\",limit=\"rate\"} 2", "x_total{client=\"c1\",limit=\"rate\"} 1",
                "x_total{client=\"c2\",limit=\"rate\"} 1", "x_total{client=\"other\",limit=\"other\"} 7",
            ])
        #expect(
            lines("privyseal_metrics_dropped_series_total", registry) == ["privyseal_metrics_dropped_series_total 7"])
        // Another metric has its own limit.
        Counter(label: "y_total", dimensions: [("client", "c9")], factory: registry).increment()
        #expect(lines("y_total", registry) == ["y_total{client=\"c9\"} 1"])
    }

    @Test("two kinds of metric cannot share a name, and only the first is exposed")
    func kinds() {
        Meter(label: "x_total", factory: registry).set(1)
        Counter(label: "x", factory: registry).increment(by: 5)
        Timer(label: "y_seconds", factory: registry).recordNanoseconds(1)
        Recorder(label: "y_seconds", factory: registry).record(1)
        #expect(lines("x_total", registry) == ["x_total 1"])
        #expect(lines("y_seconds_count", registry) == ["y_seconds_count 1"])
        #expect(
            lines("privyseal_metrics_dropped_series_total", registry) == ["privyseal_metrics_dropped_series_total 2"])
    }

    @Test("collectors run before each scrape and at no other time")
    func collectors() async {
        let registry = registry
        registry.onScrape {
            await Task.yield()
            Meter(label: "depth", factory: registry).increment()
        }
        #expect(lines("depth", registry) == [])
        for count in 1...2 {
            let scraped = String(decoding: await registry.scrape(), as: UTF8.self)
            #expect(scraped.contains("\ndepth \(count)\n"))
        }
    }

    @Test("replaceGauges removes the gauges that it does not set")
    func replacing() {
        registry.replaceGauges("up", with: [([("token", "a")], 1), ([("token", "b")], 0)])
        let kept = registry.makeMeter(label: "up", dimensions: [("token", "b")])
        registry.replaceGauges("up", with: [([("token", "b")], 1), ([("token", "c")], 0)])
        #expect(lines("up", registry) == ["up{token=\"b\"} 1", "up{token=\"c\"} 0"])
        #expect(kept === registry.makeMeter(label: "up", dimensions: [("token", "b")]))
        registry.replaceGauges("up", with: [])
        #expect(!text(registry).contains("# TYPE up"))
    }

    @Test("a counter never falls, and a negative duration counts as zero")
    func nonsense() {
        let counter = Counter(label: "x_total", factory: registry)
        counter.increment(by: 2)
        counter.increment(by: -1)
        let amounts = FloatingPointCounter(label: "y_total", factory: registry)
        for amount in [1.5, -1, .nan, .infinity] { amounts.increment(by: amount) }
        let timer = Timer(label: "t_seconds", factory: registry)
        timer.recordNanoseconds(-5)
        #expect(lines("x_total", registry) == ["x_total 2"])
        #expect(lines("y_total", registry) == ["y_total 1.5"])
        #expect(lines("t_seconds_sum", registry) == ["t_seconds_sum 0"])
        counter.reset()
        #expect(lines("x_total", registry) == ["x_total 0"])
    }

    @Test("the process metrics show start time, memory, descriptors and processor time")
    func process() async throws {
        ProcessCollector.install(in: registry)
        let scraped = String(decoding: await registry.scrape(), as: UTF8.self).split(separator: "\n")
        func value(_ name: String) throws -> Double {
            let line = try #require(scraped.first { $0.hasPrefix("\(name) ") })
            return try #require(line.split(separator: " ").last.flatMap { Double($0) })
        }
        #expect(try value("process_start_time_seconds") > 1_700_000_000)
        #expect(try value("process_resident_memory_bytes") > 1_000_000)
        #expect(try value("process_open_fds") >= 3)
        #expect(try value("process_cpu_seconds_total") > 0)
    }
}
