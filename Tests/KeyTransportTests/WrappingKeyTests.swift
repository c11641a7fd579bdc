import Crypto
import CryptoExtras
import KeyTransport
import SigningKit
import StrictJSON
import Testing

@Suite("Wrapping keys and packages")
struct WrappingKeyTests {
    private let key = P256.Signing.PrivateKey()
    private var material: KeyMaterial {
        KeyMaterial(pkcs8: Array(key.derRepresentation).withUnsafeBytes { Secret($0) }, publicKey: key.publicKey)
    }

    @Test("a package uses the hash from the file of its wrapping key", arguments: [WrappingHash.sha1, .sha256])
    func hash(_ hash: WrappingHash) throws {
        let pair = try _RSA.Encryption.PrivateKey(keySize: .bits2048)
        let file = WrappingKey.file(GeneratedWrappingKey(der: Array(pair.publicKey.derRepresentation), hash: hash))
        let read = try WrappingKey(pem: file)
        #expect(read.hash == hash)
        let package = try KeyPackage(parsing: JSONText.encode(KeyPackage(read.wrap(material)))).key
        #expect(package.hash == hash)
        let padding: _RSA.Encryption.Padding = hash == .sha1 ? .PKCS1_OAEP : .PKCS1_OAEP_SHA256
        #expect(try pair.decrypt(package.encryptedAESKey, padding: padding).count == 32)
    }

    @Test("a wrapping key file with nothing but PEM means SHA-1")
    func plainPEM() throws {
        let pair = try _RSA.Encryption.PrivateKey(keySize: .bits2048)
        #expect(try WrappingKey(pem: pair.publicKey.pemRepresentation).hash == .sha1)
    }

    @Test("WrappingKey refuses an unknown hash")
    func unknownHash() throws {
        let pair = try _RSA.Encryption.PrivateKey(keySize: .bits2048)
        let error = #expect(throws: KeyTransportError.self) {
            try WrappingKey(pem: "RSA-OAEP hash: MD5\n" + pair.publicKey.pemRepresentation)
        }
        #expect(error?.description.contains("MD5") == true)
    }
}
