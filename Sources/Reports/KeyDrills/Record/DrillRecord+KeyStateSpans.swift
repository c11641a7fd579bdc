public import SigningKit

extension DrillRecord.KeyStateSpan {
    /// The state of an active key during an outage.
    static let down = "active, down"

    /// Splits the spans of an active key at outages. The register does not know whether the token is present.
    public static func splitting(_ spans: [Self], at outages: [Range<Timestamp>]) -> [Self] {
        spans.flatMap { span in span.state == "active" ? span.split(at: outages) : [span] }
    }

    private func split(at outages: [Range<Timestamp>]) -> [Self] {
        var parts: [Self] = []
        var rest = begin
        func append(_ state: String, until end: Timestamp) {
            guard rest < end else { return }
            parts.append(Self(keyID: keyID, state: state, begin: rest, end: end))
            rest = end
        }
        for outage in outages where outage.upperBound > begin && outage.lowerBound < end {
            append(state, until: max(outage.lowerBound, begin))
            append(Self.down, until: min(outage.upperBound, end))
        }
        append(state, until: end)
        return parts
    }
}
