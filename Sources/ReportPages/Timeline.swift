/// What was served over time, and by which key: stacked areas of throughput, a lane for each key with what it was at
/// the time, and a mark for each step. Keys differ in pattern as well as in colour, so that it can be copied in black and
/// white. Drawn as SVG (W3C SVG 2) in the page itself.
public struct Timeline: PagePart {
    /// How many requests one key answered in each interval, from the beginning on.
    public struct Series: Sendable {
        /// The key ID.
        public var name: String
        public var counts: [Double]

        public init(_ name: String, counts: [Double]) {
            self.name = name
            self.counts = counts
        }
    }

    /// What a key was between two times, in seconds from the beginning.
    public struct Band: Sendable {
        public var name: String
        /// Such as `active` or `retiring`; shown where there is room.
        public var text: String
        public var from: Double
        public var to: Double
        /// Whether it is drawn without the key's pattern.
        public var isHollow: Bool

        public init(_ name: String, _ text: String, from: Double, to: Double, isHollow: Bool = false) {
            self.name = name
            self.text = text
            self.from = from
            self.to = to
            self.isHollow = isHollow
        }
    }

    /// A step at a time, in seconds from the beginning.
    public struct Event: Sendable {
        public var at: Double
        public var label: String

        public init(at: Double, _ label: String) {
            self.at = at
            self.label = label
        }
    }

    public var caption: String
    /// How long it took, in seconds.
    public var duration: Double
    /// The length of each interval, in seconds.
    public var interval: Double
    /// Answered requests, one on the other in this order.
    public var series: [Series]
    /// Requests that failed, in each interval; on top of the others.
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

    /// What can be drawn, in seconds: from a millisecond to decades.
    private static let times = 0.001...1e9

    /// The keys, in the order of their first mention.
    var names: [String] {
        var names: [String] = []
        for name in series.map(\.name) + bands.map(\.name) where !names.contains(name) { names.append(name) }
        return names
    }
}
