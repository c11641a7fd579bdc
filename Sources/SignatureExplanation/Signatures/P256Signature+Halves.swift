import SigningKit

/// The ways in which the two numbers of a signature get mixed up.
extension P256Signature {
    /// s ‖ r.
    var withHalvesSwapped: P256Signature? {
        P256Signature(rawRepresentation: bytes[32...] + bytes[..<32])
    }

    /// Each half with its bytes in the other order: how little-endian libraries write it.
    var withBytesReversed: P256Signature? {
        P256Signature(rawRepresentation: bytes[..<32].reversed() + bytes[32...].reversed())
    }
}
