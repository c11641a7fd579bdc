import Foundation

/// The parts of a P-256 key, and functions that encode them in DER (X.690 §8.1) in forms that no tool writes.
struct KeyStructure {
    /// 32 bytes, big-endian.
    let scalar: [UInt8]
    /// 65 bytes, uncompressed.
    let point: [UInt8]

    init() throws {
        let der = [UInt8](try OpenSSL.run("ec", "-outform", "DER", input: OpenSSL.key()))
        scalar = Array(der[7..<39])
        point = Array(der.suffix(65))
    }

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        return switch count {
        case ..<0x80: [tag, UInt8(count)] + content
        case ..<0x100: [tag, 0x81, UInt8(count)] + content
        default: [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + content
        }
    }

    static func sequence(_ members: [UInt8]...) -> [UInt8] { element(0x30, members.flatMap { $0 }) }
    static func integer(_ bytes: UInt8...) -> [UInt8] { element(0x02, bytes) }
    static func bits(_ content: [UInt8], tag: UInt8 = 0x03, unused: UInt8 = 0) -> [UInt8] {
        element(tag, [unused] + content)
    }

    static let p256: [UInt8] = element(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    static let p384: [UInt8] = element(0x06, [0x2B, 0x81, 0x04, 0x00, 0x22])
    private static let ecPublicKey = element(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])

    /// `ECPrivateKey` (RFC 5915 §3).
    func sec1(_ more: [UInt8]...) -> [UInt8] {
        Self.element(0x30, Self.integer(1) + Self.element(0x04, scalar) + more.flatMap { $0 })
    }

    /// `OneAsymmetricKey` (RFC 5958 §2).
    func pkcs8(version: UInt8 = 0, key: [UInt8]? = nil, _ more: [UInt8]...) -> Data {
        let members =
            Self.integer(version) + Self.sequence(Self.ecPublicKey, Self.p256)
            + Self.element(0x04, key ?? sec1()) + more.flatMap { $0 }
        return Data(Self.element(0x30, members))
    }

    /// `EncryptedPrivateKeyInfo` under PBES2 (RFC 8018 appendix A.4) that no passphrase decrypts.
    static func encrypted(function identifier: [UInt8], _ parameters: [UInt8]...) -> Data {
        let pbes2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D]
        let aes256CBC: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A]
        let salt = element(0x04, Array(repeating: 7, count: 16))
        let function = sequence(element(0x06, identifier), element(0x30, salt + parameters.flatMap { $0 }))
        let cipher = sequence(element(0x06, aes256CBC), element(0x04, Array(repeating: 9, count: 16)))
        return Data(
            sequence(
                sequence(element(0x06, pbes2), sequence(function, cipher)),
                element(0x04, Array(repeating: 3, count: 160))))
    }
}
