/// A chart of the served requests over time, as inline SVG (W3C SVG 2). It has stacked areas of throughput for each
/// key, a row with the states of each key, and a mark for each step. Keys differ in pattern and colour, so that
/// black-and-white copies are legible.
public struct Timeline {
    /// The number of requests that a key answered in each interval, from the start. The name is the key ID.
    public typealias Series = (name: String, counts: [Double])

    /// The state of a key between two times, in seconds from the start. The text, such as `active`, is shown if it
    /// fits. A hollow band lacks the key's pattern.
    public typealias Band = (name: String, text: String, from: Double, to: Double, isHollow: Bool)

    /// A step, with its time in seconds from the start.
    public typealias Event = (at: Double, label: String)

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
        // From a millisecond to decades.
        let drawable = 0.001...1e9
        guard drawable.contains(duration), drawable.contains(interval) else {
            return .paragraph("\(caption): nothing was measured.")
        }
        return """
            <figure><div class="scroll">\(TimelineDrawing(self).svg)</div>
            <figcaption>\(caption)</figcaption></figure>

            """
    }

    /// The keys, in order of first appearance.
    var names: [String] {
        (series.map(\.name) + bands.map(\.name)).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }
}
