extension CandidateKey {
    /// Reads the public keys of a file: PEM with SubjectPublicKeyInfo (RFC 7468 §13), a JWKS or a single JWK (RFC
    /// 7517), or DER.
    ///
    /// - Parameters:
    ///   - label: The name of the file in messages.
    ///   - keyID: The ID of the key. It replaces the `kid` of a single JWK, and is ignored for a JWKS.
    /// - Returns: At least one key.
    public static func read(
        _ bytes: [UInt8], label: String, keyID: String? = nil
    ) throws(CandidateKeyError) -> [CandidateKey] {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard let first = text.first(where: { $0 > 0x20 }) else { throw .empty }
        if first == UInt8(ascii: "{") {
            return try PublicKeySet.read(Array(text), label: label, keyID: keyID)
        }
        if PublicKeyPEM.isPEM(text) {
            let keys = try PublicKeyPEM.read(text)
            return keys.enumerated().map { index, key in
                CandidateKey(
                    keyID: keyID, label: keys.count == 1 ? label : "\(label), key \(index + 1)", publicKey: key)
            }
        }
        guard first == 0x30 else { throw .unknownFormat }
        return [CandidateKey(keyID: keyID, label: label, publicKey: try PublicKeyDER.read(bytes))]
    }
}
