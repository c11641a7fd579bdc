/// The cost of deriving the key that decrypts a file, from its PBES2 parameters (RFC 8018 appendix A.4). libcrypto
/// accepts any cost, and a derivation that has begun cannot be stopped.
enum KeyDerivation {
    /// An iteration takes about 300 ns, so the limit is two seconds per file. OWASP recommends 600,000.
    static let maximumIterations = 5_000_000
    /// N × r × p. The default of openssl is 2^17.
    static let maximumScryptCost = 1 << 22

    /// - Parameter der: `EncryptedPrivateKeyInfo` under PBES2. libcrypto later refuses an unknown derivation function.
    static func check(_ der: UnsafeRawBufferPointer) throws(EncryptedKey.Failure) {
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
    private static func checkPBKDF2(_ parameters: DERReader.Element) throws(EncryptedKey.Failure) {
        guard let members = DERReader.elements(of: parameters.whole), members.count >= 2,
            members[1].tag == DERReader.integer
        else { throw .damaged }
        guard let iterations = number(members[1]), iterations <= maximumIterations else {
            throw .tooExpensive("more than \(maximumIterations) PBKDF2 iterations")
        }
    }

    /// `scrypt-params` (RFC 7914 §7): the salt, then N, r and p.
    private static func checkScrypt(_ parameters: DERReader.Element) throws(EncryptedKey.Failure) {
        guard let members = DERReader.elements(of: parameters.whole), members.count >= 4,
            members[1...3].allSatisfy({ $0.tag == DERReader.integer })
        else { throw .damaged }
        var cost = 1
        for member in members[1...3] {
            guard let factor = number(member), factor <= maximumScryptCost else { throw scryptTooExpensive }
            cost *= factor
            guard cost <= maximumScryptCost else { throw scryptTooExpensive }
        }
    }

    private static let scryptTooExpensive = EncryptedKey.Failure.tooExpensive(
        "more than \(maximumScryptCost) scrypt steps (N × r × p)")

    /// Nil for a negative number, and for more than four bytes without leading zeros.
    private static func number(_ element: DERReader.Element) -> Int? {
        let digits = element.content.drop { $0 == 0 }
        guard digits.count <= 4, let first = element.content.first, first < 0x80 else { return nil }
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }
}
