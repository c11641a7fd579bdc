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

/// The cost of deriving the key that decrypts a file, from its PBES2 parameters (RFC 8018 appendix A.4). libcrypto
/// accepts any cost, and a derivation that has begun cannot be stopped.
enum KeyDerivation {
    /// An iteration takes about 300 ns, so the limit is two seconds per file. OWASP recommends 600,000.
    static let maximumIterations = 5_000_000
    /// N × r × p. The default of openssl is 2^17.
    static let maximumScryptCost = 1 << 22

    /// - Parameter der: `EncryptedPrivateKeyInfo` under PBES2. libcrypto later refuses an unknown derivation function.
    static func check(_ der: UnsafeRawBufferPointer) throws(KeyFileError) {
        guard let parameters = parameters(of: der), let function = parameters.first,
            let members = DERReader.elements(of: function.whole), members.count >= 2,
            members[0].tag == DERReader.objectIdentifier
        else { throw .damaged }
        let identifier = members[0].content
        if identifier.elementsEqual(ObjectIdentifier.pbkdf2) {
            try checkPBKDF2(members[1])
        } else if identifier.elementsEqual(ObjectIdentifier.scrypt) {
            try checkScrypt(members[1])
        }
    }

    /// `PBES2-params`: the derivation function and the cipher.
    private static func parameters(of der: UnsafeRawBufferPointer) -> [DERReader.Element]? {
        guard let info = DERReader.elements(of: der), let scheme = info.first,
            let algorithm = DERReader.elements(of: scheme.whole), algorithm.count == 2
        else { return nil }
        return DERReader.elements(of: algorithm[1].whole)
    }

    /// `PBKDF2-params` (RFC 8018 appendix A.2): the salt, then the iterations.
    private static func checkPBKDF2(_ parameters: DERReader.Element) throws(KeyFileError) {
        guard let members = DERReader.elements(of: parameters.whole), members.count >= 2,
            members[1].tag == DERReader.integer
        else { throw .damaged }
        guard let iterations = number(members[1]), iterations <= maximumIterations else {
            throw tooExpensive("\(maximumIterations) PBKDF2 iterations")
        }
    }

    /// `scrypt-params` (RFC 7914 §7): the salt, then N, r and p.
    private static func checkScrypt(_ parameters: DERReader.Element) throws(KeyFileError) {
        guard let members = DERReader.elements(of: parameters.whole), members.count >= 4,
            members[1...3].allSatisfy({ $0.tag == DERReader.integer })
        else { throw .damaged }
        var cost = 1
        for member in members[1...3] {
            let product = number(member).map { cost.multipliedReportingOverflow(by: $0) }
            guard let product, !product.overflow, product.partialValue <= maximumScryptCost else {
                throw tooExpensive("\(maximumScryptCost) scrypt steps (N × r × p)")
            }
            cost = product.partialValue
        }
    }

    private static func tooExpensive(_ limit: String) -> KeyFileError {
        .unfit("is encrypted at a cost of more than \(limit). Convert it with: \(EncryptedKey.conversion) -iter 600000")
    }

    /// Nil for a negative number, and for more than four bytes without leading zeros.
    private static func number(_ element: DERReader.Element) -> Int? {
        let digits = element.content.drop { $0 == 0 }
        guard digits.count <= 4, let first = element.content.first, first < 0x80 else { return nil }
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }
}
