/// An entry as it is kept: canonical JSON (RFC 8785), of which the tree's leaf is made.
public struct CanonicalEntry: Hashable, Sendable {
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}
