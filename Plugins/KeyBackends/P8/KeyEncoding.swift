/// The structure in the DER of a key file.
enum KeyEncoding {
    /// A private key on P-256: its scalar, big-endian, and every public point in the file (SEC 1 §2.3.3).
    case p256(scalar: UnsafeRawBufferPointer, points: [UnsafeRawBufferPointer])
    /// EncryptedPrivateKeyInfo (RFC 5958 §3) under PBES2.
    case encrypted

    init(_ der: UnsafeRawBufferPointer) throws(KeyFileError) {
        guard let elements = DERElement.members(of: der), elements.count >= 2 else { throw .damaged }
        switch (elements[0].tag, elements[1].tag) {
        case (DERElement.integer, DERElement.sequence): self = try Self.privateKeyInfo(elements)
        case (DERElement.integer, DERElement.octetString): self = try Self.ecPrivateKey(elements, curve: nil)
        // RFC 8017 appendix A.1: nine integers for a private key, two for a public one.
        case (DERElement.integer, DERElement.integer): throw elements.count > 2 ? .rsa : .publicKey
        case (DERElement.sequence, DERElement.octetString): self = try Self.encryptedPrivateKeyInfo(elements)
        case (DERElement.sequence, DERElement.bitString): throw .publicKey
        case (DERElement.sequence, DERElement.sequence): throw .certificate
        default: throw .damaged
        }
    }

    /// `PrivateKeyInfo` (RFC 5208 §5), and `OneAsymmetricKey` (RFC 5958 §2), which adds a public key.
    private static func privateKeyInfo(_ elements: [DERElement]) throws(KeyFileError) -> KeyEncoding {
        guard let algorithm = elements[1].members, let identifier = algorithm.first,
            identifier.tag == DERElement.objectIdentifier, elements.count >= 3,
            elements[2].tag == DERElement.octetString
        else { throw .damaged }
        if identifier.content.elementsEqual(ObjectIdentifier.rsaEncryption) { throw .rsa }
        guard identifier.content.elementsEqual(ObjectIdentifier.ecPublicKey) else {
            let name = ObjectIdentifier.name(of: identifier)
            throw .unfit("holds a key for \(name); App Store keys are for ECDSA on P-256")
        }
        guard algorithm.count == 2, let outerPoint = publicKeyOfInfo(elements),
            let inner = DERElement.members(of: elements[2].content), inner.count >= 2
        else { throw .damaged }
        let encoding = try ecPrivateKey(inner, curve: algorithm[1])
        guard case .p256(let scalar, let points) = encoding else { return encoding }
        return .p256(scalar: scalar, points: points + outerPoint)
    }

    /// The public key in the members after the private key: attributes, and `[1] IMPLICIT BIT STRING` in version 2
    /// only. Empty without a public key; nil for a structure that RFC 5958 §2 does not allow.
    private static func publicKeyOfInfo(_ elements: [DERElement]) -> [UnsafeRawBufferPointer]? {
        var rest = elements.dropFirst(3)
        if rest.first?.tag == DERElement.context(0) { rest = rest.dropFirst() }
        // An INTEGER of 0 is version 1, an INTEGER of 1 is version 2.
        if elements[0].content.elementsEqual([0]) { return rest.isEmpty ? [] : nil }
        guard elements[0].content.elementsEqual([1]), rest.count <= 1 else { return nil }
        guard let element = rest.first else { return [] }
        guard element.tag == DERElement.primitiveContext(1), let point = point(element.content) else { return nil }
        return [point]
    }

    /// `ECPrivateKey` (RFC 5915 §3). In PKCS #8 the outer structure names the curve, otherwise `parameters` does.
    private static func ecPrivateKey(
        _ elements: [DERElement], curve outer: DERElement?
    ) throws(KeyFileError) -> KeyEncoding {
        let version = elements[0], scalar = elements[1]
        guard version.content.elementsEqual([1]), scalar.tag == DERElement.octetString else { throw .damaged }
        var rest = elements.dropFirst(2)
        var inner: DERElement?
        var points: [UnsafeRawBufferPointer] = []
        if let parameters = rest.first, parameters.tag == DERElement.context(0) {
            guard let members = parameters.members, members.count == 1 else { throw .damaged }
            inner = members[0]
            rest = rest.dropFirst()
        }
        if let publicKey = rest.first, publicKey.tag == DERElement.context(1) {
            guard let members = publicKey.members, members.count == 1, members[0].tag == DERElement.bitString,
                let point = point(members[0].content)
            else { throw .damaged }
            points = [point]
            rest = rest.dropFirst()
        }
        guard rest.isEmpty, let curve = outer ?? inner else { throw .damaged }
        if let other = otherCurve(curve) {
            throw .unfit("holds a key on \(other); App Store keys are on P-256 (prime256v1)")
        }
        if let inner, let other = otherCurve(inner) {
            throw .unfit("names two curves: P-256 (prime256v1) and, in the key itself, \(other)")
        }
        // RFC 5915 requires 32 bytes; some old tools omit leading zeros.
        guard (1...32).contains(scalar.content.count) else { throw .damaged }
        return .p256(scalar: scalar.content, points: points)
    }

    /// The curve's name if it is not P-256.
    private static func otherCurve(_ curve: DERElement) -> String? {
        guard curve.tag == DERElement.objectIdentifier else { return "explicit parameters" }
        return curve.content.elementsEqual(ObjectIdentifier.p256) ? nil : ObjectIdentifier.name(of: curve)
    }

    /// The content of a BIT STRING with a point. Its first byte counts unused bits (X.690 §8.6.2) and must be 0.
    private static func point(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard content.count > 1, content[0] == 0 else { return nil }
        return UnsafeRawBufferPointer(rebasing: content.dropFirst())
    }

    private static func encryptedPrivateKeyInfo(_ elements: [DERElement]) throws(KeyFileError) -> KeyEncoding {
        guard let scheme = elements[0].members?.first, scheme.tag == DERElement.objectIdentifier else {
            throw .damaged
        }
        guard scheme.content.elementsEqual(ObjectIdentifier.pbes2) else {
            let name = ObjectIdentifier.name(of: scheme)
            throw .unfit("is encrypted with \(name); only PBES2 is read. Convert it with: \(EncryptedKey.conversion)")
        }
        return .encrypted
    }
}
