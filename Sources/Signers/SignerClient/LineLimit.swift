import NIOCore

/// Limits the lines that a signer process can write to the gateway's log.
struct LineLimit {
    private let perSecond: Int
    private var second = NIODeadline.distantPast
    private var count = 0

    init(perSecond: Int) {
        self.perSecond = perSecond
    }

    mutating func admitsNext() -> Bool {
        if .now() - second > .seconds(1) { (second, count) = (.now(), 0) }
        count += 1
        return count <= perSecond
    }
}
