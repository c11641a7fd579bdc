/// The position of a perfect subtree in a tree.
public struct Subtree: Hashable, Sendable {
    /// The height of the subtree, which has 2^`level` leaves.
    public let level: Int
    /// The index among the subtrees of this level, from 0.
    public let index: Int

    public init(level: Int, index: Int) {
        self.level = level
        self.index = index
    }

    public var leaves: Range<Int> { index << level..<(index + 1) << level }
}
