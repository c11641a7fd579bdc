import SigningKit

/// Known mistakes in the order of r and s, and of their bytes.
extension P256Signature {
    var withHalvesSwapped: P256Signature? {
        P256Signature(rawRepresentation: bytes[32...] + bytes[..<32])
    }

    /// Each half with its bytes reversed, as little-endian libraries write it.
    var withBytesReversed: P256Signature? {
        P256Signature(rawRepresentation: bytes[..<32].reversed() + bytes[32...].reversed())
    }
}
