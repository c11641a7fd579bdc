public import Crypto

extension NoteSigner {
    /// A key for another purpose, from which nobody learns anything of this one (HKDF-SHA-256, RFC 5869).
    ///
    /// - Parameter purpose: told apart by it.
    /// - Returns: 256 bits.
    public func derivedKey(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: key.rawRepresentation), info: Array(purpose.utf8), outputByteCount: 32)
    }
}
