/// The place of a perfect subtree in a tree.
public struct Subtree: Hashable, Sendable {
    /// Its height: it has 2^`level` leaves.
    public let level: Int
    /// Among those of its level, from 0.
    public let index: Int

    public init(level: Int, index: Int) {
        self.level = level
        self.index = index
    }

    /// The leaves.
    public var leaves: Range<Int> { index << level..<(index + 1) << level }
}
