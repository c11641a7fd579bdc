import CLibCrypto
import SigningKit

/// `EncryptedPrivateKeyInfo` (RFC 5958 §3) under PBES2 (RFC 8018 §6.2), with PBKDF2 or scrypt (RFC 7914 §7).
enum EncryptedKey {
    /// The command that encrypts a key file again, for messages.
    static let conversion = "openssl pkcs8 -topk8 -v2 aes-256-cbc"

    /// - Returns: the DER of the `PrivateKeyInfo` inside.
    static func decrypt(_ der: UnsafeRawBufferPointer, with passphrase: Secret) throws(KeyFileError) -> SecureBytes {
        var address = der.baseAddress?.assumingMemoryBound(to: UInt8.self)
        ERR_clear_error()
        guard let encrypted = d2i_X509_SIG(nil, &address, der.count) else { throw .damaged }
        defer { X509_SIG_free(encrypted) }
        let opened = passphrase.withBytes { bytes in
            PKCS8_decrypt(encrypted, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count))
        }
        guard let opened else {
            throw privyseal_take_unsupported() == 1
                ? .unfit("is encrypted with an algorithm that libcrypto does not offer. Convert it with: \(conversion)")
                : .unfit("is encrypted, and the passphrase does not decrypt it")
        }
        defer { PKCS8_PRIV_KEY_INFO_free(opened) }
        guard let encoded = SecureBytes.encode(opened) else { throw .noRoom }
        return encoded
    }
}

/// The cost of deriving the key that decrypts a file, from its PBES2 parameters (RFC 8018 appendix A.4). libcrypto
/// accepts any cost, and a derivation that has begun cannot be stopped.
enum KeyDerivation {
    /// An iteration takes about 300 ns, so the limit is two seconds per file. OWASP recommends 600,000.
    static let maximumIterations = 5_000_000
    /// N × r × p. The default of openssl is 2^17.
    static let maximumScryptCost = 1 << 22

    /// - Parameter der: `EncryptedPrivateKeyInfo` under PBES2. libcrypto later refuses an unknown derivation function.
    static func check(_ der: UnsafeRawBufferPointer) throws(KeyFileError) {
        // `EncryptedPrivateKeyInfo`: the algorithm, which has an identifier and `PBES2-params`, first the function.
        guard let algorithm = DERElement.members(of: der)?.first?.members, algorithm.count == 2,
            let members = algorithm[1].members?.first?.members, members.count >= 2,
            members[0].tag == DERElement.objectIdentifier
        else { throw .damaged }
        let parameters = members[1].members ?? []
        if members[0].content.elementsEqual(ObjectIdentifier.pbkdf2) {
            // `PBKDF2-params` (RFC 8018 appendix A.2): the salt, then the iterations.
            try check(parameters.dropFirst().prefix(1), of: 1, maximumIterations, "PBKDF2 iterations")
        } else if members[0].content.elementsEqual(ObjectIdentifier.scrypt) {
            // `scrypt-params` (RFC 7914 §7): the salt, then N, r and p.
            try check(parameters.dropFirst().prefix(3), of: 3, maximumScryptCost, "scrypt steps (N × r × p)")
        }
    }

    /// - Parameter limit: of the product of the factors.
    private static func check(
        _ factors: ArraySlice<DERElement>, of count: Int, _ limit: Int, _ unit: String
    ) throws(KeyFileError) {
        guard factors.count == count, factors.allSatisfy({ $0.tag == DERElement.integer }) else { throw .damaged }
        var cost = 1
        for factor in factors {
            let product = number(factor).map { cost.multipliedReportingOverflow(by: $0) }
            guard let product, !product.overflow, product.partialValue <= limit else {
                throw .unfit(
                    "is encrypted at a cost of more than \(limit) \(unit). Convert it with: "
                        + "\(EncryptedKey.conversion) -iter 600000")
            }
            cost = product.partialValue
        }
    }

    /// Nil for a negative number, and for more than four bytes without leading zeros.
    private static func number(_ element: DERElement) -> Int? {
        let digits = element.content.drop { $0 == 0 }
        guard digits.count <= 4, let first = element.content.first, first < 0x80 else { return nil }
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }
}
