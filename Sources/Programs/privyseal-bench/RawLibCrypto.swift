import CLibCrypto

/// The limit for a file key: libcrypto signs a digest with a context that is prepared once.
final class RawLibCrypto: @unchecked Sendable {
    // Used by one task at a time.
    private let context: OpaquePointer

    init?() {
        guard let generator = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(generator) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(generator) == 1, EVP_PKEY_CTX_set_group_name(generator, "P-256") == 1,
            EVP_PKEY_generate(generator, &key) == 1, let key
        else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil), EVP_PKEY_sign_init(context) == 1 else {
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_PKEY_CTX_free(context)
    }

    /// - Returns: the number of signatures.
    func sign(count: Int) -> Int {
        let digest = [UInt8](repeating: 0x5A, count: 32)
        var signature = [UInt8](repeating: 0, count: 72)
        for _ in 0..<count {
            var length = signature.count
            EVP_PKEY_sign(context, &signature, &length, digest, digest.count)
        }
        return count
    }
}
