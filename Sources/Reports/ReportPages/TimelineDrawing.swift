/// A timeline as SVG, 960 units wide. From top to bottom: step labels, areas, time axis, key rows, legend.
struct TimelineDrawing {
    private static let left = 96.0
    private static let right = 944.0
    private static let plotHeight = 210.0
    private static let labelHeight = 17.0
    private static let keyRowHeight = 22.0
    /// The width of a character in the drawing's 12-unit font, rounded up.
    private static let letterWidth = 7.2
    private static let failureColor: HTML = "#7d0f0b"

    /// Dark lines on a light ground, one direction per key. The first two, for a key rotation, differ most.
    private static let patterns: [(ground: HTML, ink: HTML, drawing: HTML)] = [
        ("#dce8f4", "#1f4e7a", "M-2 2L2-2M0 8L8 0M6 10L10 6"),
        ("#fdf0e3", "#8a4a0b", "M0 4H8"),
        ("#e2f0e2", "#2a6336", "M-2 6L2 10M0 0L8 8M6-2L10 2"),
        ("#ece2f3", "#57367a", "M2 0V8M6 0V8"),
        ("#f3f0d9", "#665a00", "M0 0L8 8M8 0L0 8"),
        ("#ececec", "#333333", "M0 4H8M4 0V8"),
    ]

    /// The upper and lower edge of an area in one interval, in requests per second.
    private typealias Edges = (bottom: Double, top: Double)

    private let timeline: Timeline
    private let names: [String]
    /// The names of the keys with bands.
    private let rowNames: [String]
    private let labels: [TimelineLabel]
    private let time: TimelineScale
    private let rate: TimelineScale
    private let rateStep: Double
    /// The edges in each interval, for each series and then for the failures.
    private let layers: [[Edges]]

    init(_ timeline: Timeline) {
        self.timeline = timeline
        names = timeline.names
        rowNames = names.filter { name in timeline.bands.contains { $0.name == name } }
        time = TimelineScale(end: timeline.duration, origin: Self.left, length: Self.right - Self.left)
        labels = TimelineLabel.laidOut(timeline.events, on: time, right: Self.right, letterWidth: Self.letterWidth)
        layers = Self.layers(timeline)
        let highest = layers.joined().reduce(1) { max($0, $1.top) }
        rateStep = TimelineScale.step(for: highest, count: 4)
        let end = (highest / rateStep).rounded(.up) * rateStep
        let top = Double((labels.map(\.row).max() ?? -1) + 1) * Self.labelHeight + 14
        rate = TimelineScale(end: end, origin: top + Self.plotHeight, length: -Self.plotHeight)
    }

    var svg: HTML {
        """
        <svg viewBox="0 0 960 \(legendTop + 20)" role="img" aria-label="\(timeline.caption)">
        <defs>\(patterns)</defs>
        \(grid)\(areas)\(keyRows)\(axes)\(marks)\(legend)</svg>
        """
    }

    private var rowsTop: Double { rate.origin + 34 }
    private var rowsBottom: Double { rowsTop + Double(rowNames.count) * Self.keyRowHeight }
    private var legendTop: Double { rowsBottom + (rowNames.isEmpty ? 0 : 16) }

    // MARK: Patterns

    private var patterns: HTML {
        HTML(
            Self.patterns.prefix(names.count).enumerated().map { index, pattern -> HTML in
                """
                <pattern id="key-\(index)" width="8" height="8" patternUnits="userSpaceOnUse">\
                <path d="M0 0H8V8H0Z" fill="\(pattern.ground)"/>\
                <path d="\(pattern.drawing)" stroke="\(pattern.ink)" stroke-width="1" fill="none"/></pattern>
                """
            })
    }

    private func fill(_ name: String) -> HTML { "url(#key-\(index(of: name)))" }

    private func ink(_ name: String) -> HTML { Self.patterns[index(of: name)].ink }

    private func index(of name: String) -> Int { (names.firstIndex(of: name) ?? 0) % Self.patterns.count }

    // MARK: Areas

    /// Stacked.
    private static func layers(_ timeline: Timeline) -> [[Edges]] {
        let count = Int(min((timeline.duration / timeline.interval).rounded(.up), 20_000))
        var heights = [Double](repeating: 0, count: count)
        return (timeline.series.map(\.counts) + [timeline.failures]).map { counts in
            heights.indices.map { index in
                let bottom = heights[index]
                let number = index < counts.count && counts[index].isFinite ? min(max(counts[index], 0), 1e9) : 0
                heights[index] += number / timeline.interval
                return (bottom, heights[index])
            }
        }
    }

    private var areas: HTML {
        HTML(
            zip(timeline.series, layers).map { series, layer -> HTML in
                """
                <path d="\(outline(layer))" fill="\(fill(series.name))" \
                stroke="\(ink(series.name))" stroke-width=".8"/>

                """
            }) + failures
    }

    /// Each failure is at least three units high, so that a single one is visible.
    private var failures: HTML {
        var path: HTML = ""
        for (index, part) in (layers.last ?? []).enumerated() where part.top > part.bottom {
            let (x, end) = (edge(index), edge(index + 1))
            let bottom = rate.place(part.bottom)
            path += "M\(x) \(bottom)V\(min(rate.place(part.top), bottom - 3))H\(max(end, x + 1.5))V\(bottom)Z"
        }
        return path.isEmpty ? "" : "<path d=\"\(path)\" fill=\"\(Self.failureColor)\"/>\n"
    }

    private func edge(_ index: Int) -> Double { time.place(Double(index) * timeline.interval) }

    /// Along the upper edges and back along the lower edges, without the empty intervals at both ends.
    private func outline(_ layer: [Edges]) -> HTML {
        guard let first = layer.firstIndex(where: { $0.top > $0.bottom }),
            let last = layer.lastIndex(where: { $0.top > $0.bottom })
        else { return "" }
        var path: HTML = "M\(edge(first)) \(rate.place(layer[first].bottom))"
        for index in first...last { path += "V\(rate.place(layer[index].top))H\(edge(index + 1))" }
        for index in (first...last).reversed() { path += "V\(rate.place(layer[index].bottom))H\(edge(index))" }
        return path + "Z"
    }

    // MARK: Key rows

    private var keyRows: HTML {
        HTML(
            rowNames.enumerated().map { row, name -> HTML in
                let y = rowsTop + Double(row) * Self.keyRowHeight
                let bands = timeline.bands.filter { $0.name == name }.map { band($0, y: y) }
                let shown = name.count > 13 ? String(name.prefix(12)) + "…" : name
                return """
                    <text x="\(Self.left - 8)" y="\(y + 13)" text-anchor="end">\(shown)</text>
                    \(HTML(bands))
                    """
            })
    }

    private func band(_ band: Timeline.Band, y: Double) -> HTML {
        let (x, end) = (time.place(min(band.from, band.to)), time.place(max(band.from, band.to)))
        let width = max(end - x, 1)
        let textWidth = Double(band.text.count) * Self.letterWidth + 10
        let drawing: HTML = """
            <rect x="\(x)" y="\(y)" width="\(width)" height="17" fill="\(band.isHollow ? "#fff" : fill(band.name))" \
            stroke="\(ink(band.name))" stroke-width="1"><title>\(band.name): \(band.text)</title></rect>

            """
        guard textWidth < width - 4 else { return drawing }
        return drawing + """
            <rect x="\(x + 3)" y="\(y + 2.5)" width="\(textWidth - 2)" height="12" fill="#fff"/>\
            <text x="\(x + 7)" y="\(y + 12.8)">\(band.text)</text>

            """
    }

    // MARK: Axes, steps and legend

    private var grid: HTML {
        HTML(
            TimelineScale.ticks(to: rate.end, step: rateStep).map { tick -> HTML in
                let y = rate.place(tick)
                return """
                    <path d="M\(Self.left) \(y)H\(Self.right)" stroke="#c9ced4" stroke-width=".7"/>\
                    <text x="\(Self.left - 8)" y="\(y + 4)" text-anchor="end">\(tick)</text>

                    """
            })
    }

    private var axes: HTML {
        let (unit, seconds): (HTML, Double) =
            timeline.duration <= 180 ? ("s", 1) : timeline.duration <= 10_800 ? ("min", 60) : ("h", 3600)
        let step = TimelineScale.step(for: timeline.duration / seconds, count: 9)
        let ticks = TimelineScale.ticks(to: timeline.duration / seconds, step: step).map { tick -> HTML in
            let x = time.place(tick * seconds)
            return """
                <path d="M\(x) \(rate.origin)v5" stroke="#16191d"/>\
                <text x="\(x)" y="\(rate.origin + 18)" text-anchor="middle">\(HTML.decimal(tick, unit: 1000))</text>

                """
        }
        return """
            <path d="M\(Self.left) \(rate.origin - Self.plotHeight)V\(rate.origin)H\(Self.right)" \
            stroke="#16191d" fill="none"/>
            \(HTML(ticks))<text class="soft" x="\(Self.left - 16)" y="\(rate.origin + 18)" \
            text-anchor="end">time, \(unit)</text>
            <text class="soft" transform="translate(30 \(rate.origin - Self.plotHeight / 2)) rotate(-90)" \
            text-anchor="middle">requests per second</text>

            """
    }

    private var marks: HTML {
        HTML(
            labels.map { label -> HTML in
                let y = Double(label.row) * Self.labelHeight + 13
                return """
                    <path d="M\(label.x) \(y + 4)V\(rowsBottom)" stroke="#16191d" stroke-width="1.1" \
                    stroke-dasharray="5 3"/><circle cx="\(label.x)" cy="\(y)" r="3.2" fill="#16191d"/>\
                    <text x="\(label.isLeft ? label.x - 8 : label.x + 8)" y="\(y + 4)" \
                    text-anchor="\(label.isLeft ? "end" : "start")">\(label.text)</text>

                    """
            })
    }

    private var legend: HTML {
        var x = Self.left
        var drawing: HTML = ""
        for name in names {
            drawing += swatch(x, fill(name), ink(name), name)
            x += 34 + Double(name.count) * (Self.letterWidth + 1) + 16
        }
        return drawing + swatch(x, Self.failureColor, Self.failureColor, "failed")
    }

    private func swatch(_ x: Double, _ fill: HTML, _ ink: HTML, _ name: String) -> HTML {
        """
        <rect x="\(x)" y="\(legendTop)" width="24" height="12" fill="\(fill)" stroke="\(ink)"/>\
        <text x="\(x + 31)" y="\(legendTop + 10.5)">\(name)</text>

        """
    }
}
