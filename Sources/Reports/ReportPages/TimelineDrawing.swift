/// A timeline as SVG, 960 units wide. From top to bottom: step labels, areas, time axis, key rows (`lanes`), legend.
struct TimelineDrawing {
    private static let left = 96.0
    private static let right = 944.0
    private static let plotHeight = 210.0
    private static let labelHeight = 17.0
    private static let keyRowHeight = 22.0
    /// The width of a character in the drawing's 12-unit font, rounded up.
    private static let letterWidth = 7.2

    private let timeline: Timeline
    private let names: [String]
    private let labels: [TimelineLabel]
    private let time: TimelineScale
    private let rate: TimelineScale
    private let rateStep: Double
    /// The lower and upper edge in each interval, for each series and then for the failures.
    private let layers: [[(bottom: Double, top: Double)]]

    init(_ timeline: Timeline) {
        self.timeline = timeline
        names = timeline.names
        time = TimelineScale(end: timeline.duration, origin: Self.left, length: Self.right - Self.left)
        let width = Self.letterWidth
        labels = TimelineLabel.laidOut(timeline.events, on: time, right: Self.right, letterWidth: width)
        layers = Self.layers(timeline)
        let highest = layers.flatMap { $0 }.reduce(0) { max($0, $1.top) }
        rateStep = TimelineScale.step(for: max(highest, 1), count: 4)
        let end = (max(highest, 1) / rateStep).rounded(.up) * rateStep
        let top = Double((labels.map(\.row).max() ?? -1) + 1) * Self.labelHeight + 14
        rate = TimelineScale(end: end, origin: top + Self.plotHeight, length: -Self.plotHeight)
    }

    var svg: HTML {
        """
        <svg viewBox="0 0 960 \(height)" role="img" aria-label="\(timeline.caption)">
        <defs>\(TimelinePattern.definitions(names.count))</defs>
        \(grid)\(areas)\(keyRows)\(axes)\(marks)\(legend)</svg>
        """
    }

    // MARK: Layout

    private var top: Double { rate.origin - Self.plotHeight }
    private var lanesTop: Double { rate.origin + 34 }
    private var lanesBottom: Double { lanesTop + Double(laneNames.count) * Self.keyRowHeight }
    private var legendTop: Double { lanesBottom + (laneNames.isEmpty ? 0 : 16) }
    private var height: Double { legendTop + 20 }
    private var laneNames: [String] { names.filter { name in timeline.bands.contains { $0.name == name } } }

    private func pattern(of name: String) -> Int { names.firstIndex(of: name) ?? 0 }

    /// In requests per second, stacked.
    private static func layers(_ timeline: Timeline) -> [[(bottom: Double, top: Double)]] {
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

    // MARK: Drawing

    private var grid: HTML {
        HTML(
            TimelineScale.ticks(to: rate.end, step: rateStep).map { tick -> HTML in
                let y = rate.place(tick)
                return """
                    <path d="M\(Self.left) \(y)H\(Self.right)" stroke="#c9ced4" stroke-width=".7"/>\
                    <text x="\(Self.left - 8)" y="\(y + 4)" text-anchor="end">\
                    \(HTML.decimal(tick, digits: 2))</text>

                    """
            })
    }

    private var areas: HTML {
        var drawing: HTML = ""
        for (series, layer) in zip(timeline.series, layers) {
            let index = pattern(of: series.name)
            drawing += """
                <path d="\(outline(layer))" fill="\(TimelinePattern.fill(index))" \
                stroke="\(TimelinePattern.ink(index))" stroke-width=".8"/>

                """
        }
        return drawing + failures
    }

    /// Each failure is at least three units high, so that a single one is visible.
    private var failures: HTML {
        guard let layer = layers.last else { return "" }
        var path: HTML = ""
        for (index, part) in layer.enumerated() where part.top > part.bottom {
            let (x, end) = (edge(index), edge(index + 1))
            let bottom = rate.place(part.bottom)
            path += "M\(x) \(bottom)V\(min(rate.place(part.top), bottom - 3))H\(max(end, x + 1.5))V\(bottom)Z"
        }
        return path.isEmpty ? "" : "<path d=\"\(path)\" fill=\"#7d0f0b\"/>\n"
    }

    private func edge(_ index: Int) -> Double { time.place(Double(index) * timeline.interval) }

    /// Along the upper edges and back along the lower edges, without the empty intervals at both ends.
    private func outline(_ layer: [(bottom: Double, top: Double)]) -> HTML {
        guard let first = layer.firstIndex(where: { $0.top > $0.bottom }),
            let last = layer.lastIndex(where: { $0.top > $0.bottom })
        else { return "" }
        var path: HTML = "M\(edge(first)) \(rate.place(layer[first].bottom))"
        for index in first...last { path += "V\(rate.place(layer[index].top))H\(edge(index + 1))" }
        for index in (first...last).reversed() { path += "V\(rate.place(layer[index].bottom))H\(edge(index))" }
        return path + "Z"
    }

    private var keyRows: HTML {
        HTML(
            laneNames.enumerated().map { row, name -> HTML in
                let y = lanesTop + Double(row) * Self.keyRowHeight
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
        let index = pattern(of: band.name)
        let textWidth = Double(band.text.count) * Self.letterWidth + 10
        let fill = band.isHollow ? "#fff" : TimelinePattern.fill(index)
        var drawing: HTML = """
            <rect x="\(x)" y="\(y)" width="\(width)" height="17" fill="\(fill)" \
            stroke="\(TimelinePattern.ink(index))" stroke-width="1"><title>\(band.name): \(band.text)</title></rect>

            """
        if textWidth < width - 4 {
            drawing += """
                <rect x="\(x + 3)" y="\(y + 2.5)" width="\(textWidth - 2)" height="12" fill="#fff"/>\
                <text x="\(x + 7)" y="\(y + 12.8)">\(band.text)</text>

                """
        }
        return drawing
    }

    private var axes: HTML {
        let (unit, seconds): (HTML, Double) =
            timeline.duration <= 180 ? ("s", 1) : timeline.duration <= 10_800 ? ("min", 60) : ("h", 3600)
        let step = TimelineScale.step(for: timeline.duration / seconds, count: 9)
        let ticks = TimelineScale.ticks(to: timeline.duration / seconds, step: step).map { tick -> HTML in
            let x = time.place(tick * seconds)
            return """
                <path d="M\(x) \(rate.origin)v5" stroke="#16191d"/>\
                <text x="\(x)" y="\(rate.origin + 18)" text-anchor="middle">\(HTML.decimal(tick, digits: 3))</text>

                """
        }
        let middle = rate.origin - Self.plotHeight / 2
        return """
            <path d="M\(Self.left) \(top)V\(rate.origin)H\(Self.right)" stroke="#16191d" fill="none"/>
            \(HTML(ticks))<text class="soft" x="\(Self.left - 16)" y="\(rate.origin + 18)" \
            text-anchor="end">time, \(unit)</text>
            <text class="soft" transform="translate(30 \(middle)) rotate(-90)" text-anchor="middle">\
            requests per second</text>

            """
    }

    private var marks: HTML {
        HTML(
            labels.map { label -> HTML in
                let y = Double(label.row) * Self.labelHeight + 13
                let bottom = max(lanesBottom, rate.origin)
                return """
                    <path d="M\(label.x) \(y + 4)V\(bottom)" stroke="#16191d" stroke-width="1.1" \
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
            drawing += swatch(x, TimelinePattern.fill(pattern(of: name)), TimelinePattern.ink(pattern(of: name)), name)
            x += 34 + Double(name.count) * (Self.letterWidth + 1) + 16
        }
        return drawing + swatch(x, "#7d0f0b", "#7d0f0b", "failed")
    }

    private func swatch(_ x: Double, _ fill: HTML, _ ink: HTML, _ name: String) -> HTML {
        """
        <rect x="\(x)" y="\(legendTop)" width="24" height="12" fill="\(fill)" stroke="\(ink)"/>\
        <text x="\(x + 31)" y="\(legendTop + 10.5)">\(name)</text>

        """
    }
}
