import Crypto
import CryptoExtras
public import SigningKit

/// The public half of a token's wrapping key, on the machine where a key is wrapped.
public struct WrappingKey {
    private let key: _RSA.Encryption.PublicKey
    public let fingerprint: PublicKeyFingerprint

    /// - Parameter pem: a SubjectPublicKeyInfo (`-----BEGIN PUBLIC KEY-----`), 2048 bits or more.
    public init(pem: String) throws(KeyTransportError) {
        do { key = try _RSA.Encryption.PublicKey(pemRepresentation: pem) } catch {
            throw KeyTransportError("The wrapping key is not an RSA public key of 2048 bits or more in PEM.")
        }
        fingerprint = PublicKeyFingerprint(ofDER: Array(key.derRepresentation))
    }

    /// As a token shows it: both numbers big-endian.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(KeyTransportError) {
        do { key = try _RSA.Encryption.PublicKey(n: modulus, e: exponent) } catch {
            throw KeyTransportError("The token's wrapping key is not an RSA key of 2048 bits or more.")
        }
        fingerprint = PublicKeyFingerprint(ofDER: Array(key.derRepresentation))
    }

    /// The SubjectPublicKeyInfo.
    public var der: [UInt8] { Array(key.derRepresentation) }

    /// Under a fresh AES-256 key that nobody keeps.
    public func wrap(_ material: KeyMaterial) throws(KeyTransportError) -> WrappedKey {
        let aes = SymmetricKey(size: .bits256)
        do {
            let wrapped = try material.pkcs8.withBytes { plain in
                try PaddedKeyWrap.wrap(plain) { block in
                    var bytes = UnsafeMutableRawBufferPointer(rebasing: block[...])
                    try AES.permute(&bytes, key: aes)
                }
            }
            guard let wrapped else { throw KeyTransportError("The key has a size that no key has.") }
            let encrypted = try aes.withUnsafeBytes { try key.encrypt($0, padding: .PKCS1_OAEP) }
            return WrappedKey(
                wrappingKey: fingerprint, publicKey: material.publicKey, encryptedAESKey: Array(encrypted),
                encryptedKey: wrapped)
        } catch let error as KeyTransportError {
            throw error
        } catch {
            throw KeyTransportError("The key could not be wrapped.")
        }
    }
}

/// Why a key cannot travel, in a sentence.
public struct KeyTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ sentence: String) {
        description = sentence
    }
}
