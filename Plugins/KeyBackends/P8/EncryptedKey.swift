import CLibCrypto
import SigningKit

/// `EncryptedPrivateKeyInfo` (RFC 5958 §3) under PBES2 (RFC 8018 §6.2), with PBKDF2 or scrypt (RFC 7914 §7).
enum EncryptedKey {
    /// - Returns: the DER of the `PrivateKeyInfo` inside, or nil when the passphrase does not open it.
    static func decrypt(_ der: UnsafeRawBufferPointer, with passphrase: Secret) -> SecureBytes? {
        var address = der.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let encrypted = d2i_X509_SIG(nil, &address, der.count) else { return nil }
        defer { X509_SIG_free(encrypted) }
        let opened = passphrase.withBytes { bytes in
            PKCS8_decrypt(encrypted, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count))
        }
        // A wrong passphrase leaves its reasons in libcrypto's queue of this thread.
        guard let opened else {
            ERR_clear_error()
            return nil
        }
        defer { PKCS8_PRIV_KEY_INFO_free(opened) }
        return encode(opened)
    }

    private static func encode(_ info: OpaquePointer) -> SecureBytes? {
        let count = i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        guard count > 0, let encoded = SecureBytes(capacity: Int(count)) else { return nil }
        encoded.fill { room in
            var address = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return Int(i2d_PKCS8_PRIV_KEY_INFO(info, &address))
        }
        return encoded
    }
}
