import Crypto
import Encodings
public import SigningKit
import StrictJSON

/// A wrapped key as a file, in JSON so that people can see its kind and recipient. Format: docs/key-ceremonies.md.
public struct KeyPackage: Sendable {
    public let key: WrappedKey

    public static let format = "privyseal-wrapped-key"
    private static let version = 1
    private static let algorithms: [WrappingHash: String] = [
        .sha1: "RSA-OAEP-SHA1+AES-256-KWP", .sha256: "RSA-OAEP-SHA256+AES-256-KWP",
    ]

    public init(_ key: WrappedKey) {
        self.key = key
    }

    public init(parsing bytes: [UInt8]) throws(KeyTransportError) {
        do {
            let file = try JSONDocument(parsing: bytes).root.decode(File.self)
            guard file.format == Self.format, file.version == Self.version,
                let hash = Self.algorithms.first(where: { $0.value == file.algorithm })?.key
            else { throw KeyTransportError("The package has a format that this version does not support.") }
            let publicKey = P256.Signing.PublicKey(subjectPublicKeyInfo: try Self.bytes(file.publicKey, "publicKey"))
            guard let publicKey, file.keyFingerprint == PublicKeyFingerprint(of: publicKey).description else {
                throw KeyTransportError("The package's public key and its fingerprints do not match.")
            }
            key = WrappedKey(
                wrappingKey: file.wrappingKeyFingerprint, publicKey: publicKey, hash: hash,
                encryptedAESKey: try Self.bytes(file.encryptedAesKey, "encryptedAesKey"),
                encryptedKey: try Self.bytes(file.encryptedKey, "encryptedKey"))
        } catch let error as KeyTransportError {
            throw error
        } catch {
            throw KeyTransportError("The package was not made by keys wrap: \(error).")
        }
    }
}

extension KeyPackage: Encodable {
    /// The members of the file. Byte strings are in Base64.
    private struct File: Codable {
        let format: String
        let version: Int
        let algorithm: String
        let wrappingKeyFingerprint: PublicKeyFingerprint
        let keyFingerprint: String
        let publicKey, encryptedAesKey, encryptedKey: String

        enum CodingKeys: String, ClosedCodingKey {
            case format, version, algorithm, wrappingKeyFingerprint, keyFingerprint, publicKey, encryptedAesKey
            case encryptedKey
        }
    }

    public func encode(to encoder: any Encoder) throws {
        let file = File(
            format: Self.format, version: Self.version, algorithm: Self.algorithms[key.hash] ?? "",
            wrappingKeyFingerprint: key.wrappingKey, keyFingerprint: "\(PublicKeyFingerprint(of: key.publicKey))",
            publicKey: Base64.standard.text(key.publicKey.derRepresentation),
            encryptedAesKey: Base64.standard.text(key.encryptedAESKey),
            encryptedKey: Base64.standard.text(key.encryptedKey))
        try file.encode(to: encoder)
    }

    private static func bytes(_ text: String, _ name: String) throws(KeyTransportError) -> [UInt8] {
        guard let bytes = Base64.standard.decode(Array(text.utf8)) else {
            throw KeyTransportError("The package's \(name) is not Base64.")
        }
        return bytes
    }
}
