import Crypto

/// The parts of a certificate that a search for its public key needs. Its signature is not valid.
enum Certificate {
    static func der(for key: P256.Signing.PublicKey, version: Bool = true) -> [UInt8] {
        let name = element(0x30, [])
        let algorithm = element(0x30, [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])
        let times = element(0x17, Array("260101000000Z".utf8)) + element(0x17, Array("360101000000Z".utf8))
        let fields =
            (version ? element(0xA0, element(0x02, [0x02])) : []) + element(0x02, [0x01]) + algorithm + name
            + element(0x30, times) + name + Array(key.derRepresentation)
        return element(0x30, element(0x30, fields) + algorithm + element(0x03, [UInt8](repeating: 0, count: 72)))
    }

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            content.count < 0x80
            ? [UInt8(content.count)]
            : content.count < 0x100
                ? [0x81, UInt8(content.count)] : [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
        return [tag] + length + content
    }
}
