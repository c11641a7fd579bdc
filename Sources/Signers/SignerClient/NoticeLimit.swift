import NIOCore

/// Limits how many lines or events of a signer process reach the gateway's logs.
struct NoticeLimit {
    private let limit: Int
    private let period: TimeAmount
    private var begun = NIODeadline.distantPast
    private var count = 0

    init(_ limit: Int, in period: TimeAmount) {
        self.limit = limit
        self.period = period
    }

    /// Whether the last one was the first of its period that was not admitted.
    var hasJustBegunToRefuse: Bool { count == limit + 1 }

    /// - Parameter size: what it counts.
    mutating func admitsNext(_ size: Int = 1) -> Bool {
        if .now() - begun > period { (begun, count) = (.now(), 0) }
        count += size
        return count <= limit
    }
}
