/// A chart of the served requests over time, as inline SVG (W3C SVG 2). It has stacked areas of throughput for each
/// key, a row with the states of each key, and a mark for each step. Keys differ in pattern and colour, so that
/// black-and-white copies are legible.
public struct Timeline: PagePart {
    /// The number of requests that a key answered in each interval, from the start.
    public struct Series: Sendable {
        /// The key ID.
        public var name: String
        public var counts: [Double]

        public init(_ name: String, counts: [Double]) {
            self.name = name
            self.counts = counts
        }
    }

    /// The state of a key between two times, in seconds from the start.
    public struct Band: Sendable {
        public var name: String
        /// Such as `active` or `retiring`; shown if it fits.
        public var text: String
        public var from: Double
        public var to: Double
        /// Whether to draw the band without the key's pattern.
        public var isHollow: Bool

        public init(_ name: String, _ text: String, from: Double, to: Double, isHollow: Bool = false) {
            self.name = name
            self.text = text
            self.from = from
            self.to = to
            self.isHollow = isHollow
        }
    }

    /// A step, with its time in seconds from the start.
    public struct Event: Sendable {
        public var at: Double
        public var label: String

        public init(at: Double, _ label: String) {
            self.at = at
            self.label = label
        }
    }

    public var caption: String
    /// In seconds.
    public var duration: Double
    /// The length of each interval, in seconds.
    public var interval: Double
    /// The answered requests, stacked in this order.
    public var series: [Series]
    /// The failed requests in each interval, stacked on top.
    public var failures: [Double]
    public var bands: [Band]
    public var events: [Event]

    public init(
        caption: String, duration: Double, interval: Double, series: [Series], failures: [Double] = [],
        bands: [Band] = [], events: [Event] = []
    ) {
        self.caption = caption
        self.duration = duration
        self.interval = interval
        self.series = series
        self.failures = failures
        self.bands = bands
        self.events = events
    }

    public var html: HTML {
        guard Self.times.contains(duration), Self.times.contains(interval) else {
            return Paragraph("\(caption): nothing was measured.").html
        }
        return """
            <figure><div class="scroll">\(TimelineDrawing(self).svg)</div>
            <figcaption>\(caption)</figcaption></figure>

            """
    }

    /// The durations that can be drawn, in seconds: from a millisecond to decades.
    private static let times = 0.001...1e9

    /// The keys, in order of first appearance.
    var names: [String] {
        var names: [String] = []
        for name in series.map(\.name) + bands.map(\.name) where !names.contains(name) { names.append(name) }
        return names
    }
}
