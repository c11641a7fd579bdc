import NIOCore

/// Limits what a signer process sends in a period: lines, events, messages, or bytes.
struct NoticeLimit {
    private let limit: Int
    private let period: TimeAmount
    private var begun = NIODeadline.distantPast
    private var count = 0

    init(_ limit: Int, in period: TimeAmount) {
        self.limit = limit
        self.period = period
    }

    /// Whether the last one was the first of its period that was not admitted. Only for sizes of 1.
    var hasJustBegunToRefuse: Bool { count == limit + 1 }

    /// - Parameter size: in the unit of the limit.
    mutating func admitsNext(_ size: Int = 1) -> Bool {
        if .now() - begun > period { (begun, count) = (.now(), 0) }
        count += size
        return count <= limit
    }
}
