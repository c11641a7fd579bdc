import CLibCrypto
import Crypto
public import SigningKit

/// Reads a key for its import into a token, in the same way as for signing.
extension P8Backend: KeyMaterialReading {
    public static func material(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> KeyMaterial {
        let (reader, file) = try source(locator, environment)
        return try await aside { () throws(KeyError) in try material(reader.key(from: file.read())) }.get()
    }

    /// Encodes the key again, so that every token gets the same form.
    private static func material(_ key: LibCryptoKey) throws(KeyError) -> KeyMaterial {
        guard let info = EVP_PKEY2PKCS8(key.pkey) else { throw .failed("libcrypto could not encode the key.") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let der = EncryptedKey.encode(info) else {
            throw .unavailable("There is no room on libcrypto's secure heap for the key.")
        }
        guard let publicKey = try? P256.Signing.PublicKey(x963Representation: key.point) else {
            throw .unfit("The key's public point is not on P-256.")
        }
        return KeyMaterial(pkcs8: Secret(der.bytes), publicKey: publicKey)
    }
}
