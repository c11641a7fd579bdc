/// What the DER of a key file turns out to be.
enum KeyEncoding {
    /// A private key on P-256: its scalar, big-endian, and the public point if the file has it (SEC 1 §2.3.3).
    case p256(scalar: UnsafeRawBufferPointer, point: UnsafeRawBufferPointer?)
    /// EncryptedPrivateKeyInfo (RFC 5958 §3) under PBES2.
    case encrypted
    /// EncryptedPrivateKeyInfo under an older scheme, by name.
    case encryptedWithOldScheme(String)
    case otherCurve(String)
    case rsa
    /// A private key of a kind that is neither EC nor RSA, by name.
    case otherAlgorithm(String)
    case publicKey
    case certificate
    case unreadable

    init(_ der: UnsafeRawBufferPointer) {
        guard let elements = DERReader.elements(of: der), elements.count >= 2 else {
            self = .unreadable
            return
        }
        switch (elements[0].tag, elements[1].tag) {
        case (DERReader.integer, DERReader.sequence): self = Self.privateKeyInfo(elements)
        case (DERReader.integer, DERReader.octetString): self = Self.ecPrivateKey(elements, curve: nil)
        // RFC 8017 appendix A.1: nine integers for a private key, two for a public one.
        case (DERReader.integer, DERReader.integer): self = elements.count > 2 ? .rsa : .publicKey
        case (DERReader.sequence, DERReader.octetString): self = Self.encryptedPrivateKeyInfo(elements)
        case (DERReader.sequence, DERReader.bitString): self = .publicKey
        case (DERReader.sequence, DERReader.sequence): self = .certificate
        default: self = .unreadable
        }
    }

    /// `PrivateKeyInfo` (RFC 5208 §5), and `OneAsymmetricKey` (RFC 5958 §2), which is the same with more behind it.
    private static func privateKeyInfo(_ elements: [DERReader.Element]) -> KeyEncoding {
        var algorithm = DERReader(elements[1].content)
        guard let identifier = algorithm.next(DERReader.objectIdentifier), elements.count >= 3,
            elements[2].tag == DERReader.octetString
        else { return .unreadable }
        if identifier.content.elementsEqual(ObjectIdentifier.rsaEncryption) { return .rsa }
        guard identifier.content.elementsEqual(ObjectIdentifier.ecPublicKey) else {
            return .otherAlgorithm(ObjectIdentifier.name(of: identifier))
        }
        guard let curve = algorithm.next() else { return .unreadable }
        guard let inner = DERReader.elements(of: elements[2].content), inner.count >= 2 else { return .unreadable }
        return ecPrivateKey(inner, curve: curve)
    }

    /// `ECPrivateKey` (RFC 5915 §3). Inside PKCS#8 the curve stands outside, else in `parameters`.
    private static func ecPrivateKey(_ elements: [DERReader.Element], curve outer: DERReader.Element?) -> KeyEncoding {
        let version = elements[0], scalar = elements[1]
        guard version.content.elementsEqual([1]), scalar.tag == DERReader.octetString else { return .unreadable }
        var curve = outer
        var point: UnsafeRawBufferPointer?
        for element in elements.dropFirst(2) {
            var inside = DERReader(element.content)
            if element.tag == DERReader.context(0), curve == nil { curve = inside.next() }
            // The first byte of a BIT STRING counts unused bits.
            if element.tag == DERReader.context(1), let bits = inside.next(DERReader.bitString), bits.content.count > 1
            {
                point = UnsafeRawBufferPointer(rebasing: bits.content.dropFirst())
            }
        }
        guard let curve else { return .unreadable }
        guard curve.tag == DERReader.objectIdentifier else { return .otherCurve("explicit parameters") }
        guard curve.content.elementsEqual(ObjectIdentifier.p256) else {
            return .otherCurve(ObjectIdentifier.name(of: curve))
        }
        // RFC 5915 wants 32 bytes; some old tools leave out leading zeros.
        guard (1...32).contains(scalar.content.count) else { return .unreadable }
        return .p256(scalar: scalar.content, point: point)
    }

    private static func encryptedPrivateKeyInfo(_ elements: [DERReader.Element]) -> KeyEncoding {
        var algorithm = DERReader(elements[0].content)
        guard let scheme = algorithm.next(DERReader.objectIdentifier) else { return .unreadable }
        return scheme.content.elementsEqual(ObjectIdentifier.pbes2)
            ? .encrypted : .encryptedWithOldScheme(ObjectIdentifier.name(of: scheme))
    }
}
