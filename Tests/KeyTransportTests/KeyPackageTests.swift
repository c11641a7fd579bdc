import Crypto
import Encodings
import KeyTransport
import SigningKit
import StrictJSON
import Testing

@Suite("Wrapped key packages")
struct KeyPackageTests {
    private static let key = P256.Signing.PrivateKey().publicKey

    @Test("a package is unchanged after writing and reading")
    func written() throws {
        #expect(try KeyPackage(parsing: Self.package()).key.publicKey.rawRepresentation == Self.key.rawRepresentation)
    }

    @Test("the reader refuses a P-256 point under another curve's name")
    func otherCurve() throws {
        let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        let secp256k1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A]
        let info =
            [0x30, 0x56, 0x30, 0x10] + ecPublicKey + secp256k1 + [0x03, 0x42, 0x00] + Array(Self.key.x963Representation)
        let package = Self.package(publicKey: info)
        #expect(throws: KeyTransportError("The package's public key and its fingerprints do not match.")) {
            try KeyPackage(parsing: package)
        }
    }

    private static func package(publicKey: [UInt8] = Array(key.derRepresentation)) -> [UInt8] {
        let fingerprint = PublicKeyFingerprint(of: key).description
        let bytes = Base64.standard.encode([UInt8](repeating: 1, count: 24))
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("format", KeyPackage.format)
            writer.member("version", Int64(1))
            writer.member("algorithm", "RSA-OAEP-SHA1+AES-256-KWP")
            writer.member("wrappingKeyFingerprint", fingerprint)
            writer.member("keyFingerprint", fingerprint)
            writer.member("publicKey", unescaped: Base64.standard.encode(publicKey))
            writer.member("encryptedAesKey", unescaped: bytes)
            writer.member("encryptedKey", unescaped: bytes)
        }
        return writer.bytes
    }
}
