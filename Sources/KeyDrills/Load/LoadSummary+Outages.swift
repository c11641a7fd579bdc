public import SigningKit

extension LoadSummary {
    /// In milliseconds: a longer outage is a deviation.
    static let longestOutage = 5000

    /// Stretches in which requests failed and none was served, to the length of an interval. Intervals without an answer
    /// belong to the stretch before them.
    public var outages: [Range<Timestamp>] {
        var outages: [Range<Timestamp>] = []
        var begin: Timestamp?
        for interval in intervals {
            if interval.served > 0 {
                if let begin, begin < interval.begin { outages.append(begin..<interval.begin) }
                begin = nil
            } else if interval.failed > 0 {
                begin = begin ?? interval.begin
            }
        }
        if let begin, let last = intervals.last {
            outages.append(begin..<Timestamp(milliseconds: last.begin.milliseconds + Int64(intervalLength)))
        }
        return outages
    }
}
