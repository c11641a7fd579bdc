import CLibCrypto
import SigningKit

/// `EncryptedPrivateKeyInfo` (RFC 5958 §3) under PBES2 (RFC 8018 §6.2), with PBKDF2 or scrypt (RFC 7914 §7).
enum EncryptedKey {
    enum Failure: Error {
        case wrongPassphrase
        /// libcrypto does not offer an algorithm of the file, such as RC2.
        case unsupported
        /// The encryption parameters cannot be read.
        case damaged
        /// The key derivation would take too long; the value names the limit.
        case tooExpensive(String)
        /// The secure heap is full.
        case noRoom
    }

    /// - Returns: the DER of the `PrivateKeyInfo` inside.
    static func decrypt(_ der: UnsafeRawBufferPointer, with passphrase: Secret) throws(Failure) -> SecureBytes {
        var address = der.baseAddress?.assumingMemoryBound(to: UInt8.self)
        ERR_clear_error()
        guard let encrypted = d2i_X509_SIG(nil, &address, der.count) else { throw .wrongPassphrase }
        defer { X509_SIG_free(encrypted) }
        let opened = passphrase.withBytes { bytes in
            PKCS8_decrypt(encrypted, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count))
        }
        guard let opened else { throw privyseal_take_unsupported() == 1 ? .unsupported : .wrongPassphrase }
        defer { PKCS8_PRIV_KEY_INFO_free(opened) }
        guard let encoded = encode(opened) else { throw .noRoom }
        return encoded
    }

    /// The key in DER; nil if the secure heap is full.
    static func encode(_ info: OpaquePointer) -> SecureBytes? {
        let count = i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        guard count > 0, let encoded = SecureBytes(capacity: Int(count)) else { return nil }
        encoded.fill { room in
            var address = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return Int(i2d_PKCS8_PRIV_KEY_INFO(info, &address))
        }
        return encoded
    }
}
