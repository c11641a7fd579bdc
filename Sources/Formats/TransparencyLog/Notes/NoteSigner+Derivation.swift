public import Crypto

extension NoteSigner {
    /// Derives a key for another purpose, which reveals nothing about this key (HKDF-SHA-256, RFC 5869).
    ///
    /// - Parameter purpose: the `info` input of HKDF.
    /// - Returns: 256 bits.
    public func derivedKey(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: key.rawRepresentation), info: Array(purpose.utf8), outputByteCount: 32)
    }
}
