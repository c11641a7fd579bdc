/// An entry as the store holds it: canonical JSON (RFC 8785), the input of the Merkle tree's leaf hash.
public struct CanonicalEntry: Hashable, Sendable {
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}
