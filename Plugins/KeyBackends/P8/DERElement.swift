import CLibCrypto

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
