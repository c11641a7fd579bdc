import CLibCrypto

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

/// An element of DER (X.690), in place, because keys must not be copied.
struct DERElement {
    let tag: UInt8
    let content: UnsafeRawBufferPointer
    /// Tag, length and content.
    let whole: UnsafeRawBufferPointer

    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    /// Context-specific, constructed.
    static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
    /// Context-specific, primitive.
    static func primitiveContext(_ number: UInt8) -> UInt8 { 0x80 | number }

    /// The element at the start of the bytes; nil if it is not complete.
    init?(startOf bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 2 else { return nil }
        var (length, start) = (Int(bytes[1]), 2)
        if length >= 0x80 {
            // The long form; a key needs at most two length bytes.
            let count = length & 0x7F
            guard (1...2).contains(count), start + count <= bytes.count else { return nil }
            length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard start + length <= bytes.count else { return nil }
        tag = bytes[0]
        content = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
        whole = UnsafeRawBufferPointer(rebasing: bytes[..<(start + length)])
    }

    /// The elements in the content; nil if one is not complete.
    var members: [DERElement]? {
        var members: [DERElement] = []
        var rest = content
        while !rest.isEmpty {
            guard let element = DERElement(startOf: rest) else { return nil }
            members.append(element)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(element.whole.count))
        }
        return members
    }

    /// The members of a SEQUENCE that spans all bytes; nil otherwise.
    static func members(of bytes: UnsafeRawBufferPointer) -> [DERElement]? {
        guard let element = DERElement(startOf: bytes), element.tag == sequence, element.whole.count == bytes.count
        else { return nil }
        return element.members
    }
}

enum ObjectIdentifier {
    /// 1.2.840.10045.2.1 id-ecPublicKey (RFC 5480 §2.1.1).
    static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// 1.2.840.10045.3.1.7 secp256r1, also prime256v1 or P-256 (RFC 5480 §2.1.1.1).
    static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    /// 1.2.840.113549.1.1.1 rsaEncryption (RFC 8017 appendix A.1).
    static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    /// 1.2.840.113549.1.5.13 id-PBES2 (RFC 8018 appendix A.4).
    static let pbes2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D]
    /// 1.2.840.113549.1.5.12 id-PBKDF2 (RFC 8018 appendix A.2).
    static let pbkdf2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C]
    /// 1.3.6.1.4.1.11591.4.11 id-scrypt (RFC 7914 §7).
    static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]

    /// The name in libcrypto, such as `secp256k1`, or the dotted number.
    static func name(of element: DERElement) -> String {
        var address = element.whole.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let object = d2i_ASN1_OBJECT(nil, &address, element.whole.count)
        defer { ASN1_OBJECT_free(object) }
        guard let object else { return "an unreadable object identifier" }
        if let name = OBJ_nid2sn(OBJ_obj2nid(object)), OBJ_obj2nid(object) != NID_undef {
            return String(cString: name)
        }
        var text = [CChar](repeating: 0, count: 128)
        let count = OBJ_obj2txt(&text, Int32(text.count), object, 1)
        return String(decoding: text.prefix(max(0, min(Int(count), 127))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
