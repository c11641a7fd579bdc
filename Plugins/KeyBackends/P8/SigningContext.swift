import CLibCrypto
import Crypto
import SigningKit

/// `EVP_PKEY_CTX`, ready to sign, for one thread at a time.
final class SigningContext: @unchecked Sendable {
    // `P8Key` passes it between threads under its lock and never shares it.
    private let context: OpaquePointer

    init?(_ key: LibCryptoKey) {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pkey, nil) else { return nil }
        guard EVP_PKEY_sign_init(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_PKEY_CTX_free(context)
    }

    /// `EVP_PKEY_sign` over the digest. Nil if libcrypto fails or returns anything but strict DER.
    func sign(_ digest: SHA256Digest) -> P256Signature? {
        var der = InlineArray<72, UInt8>(repeating: 0)
        var count = 72
        let isSigned = digest.withUnsafeBytes { digest in
            var room = der.mutableSpan
            return room.withUnsafeMutableBufferPointer { room in
                EVP_PKEY_sign(
                    context, room.baseAddress, &count,
                    digest.baseAddress?.assumingMemoryBound(to: UInt8.self), digest.count)
            }
        }
        guard isSigned == 1, count <= 72 else {
            ERR_clear_error()
            return nil
        }
        return P256Signature(derRepresentation: der.span.extracting(first: count))
    }
}
