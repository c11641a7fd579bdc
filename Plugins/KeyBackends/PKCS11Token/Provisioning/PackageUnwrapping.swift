import KeyTransport
import PKCS11
import SigningKit

/// Unwraps a package in the token: in one call (`CKM_RSA_AES_KEY_WRAP`) if possible, else the AES key and then the key.
struct PackageUnwrapping {
    let token: WritableToken
    let package: WrappedKey
    let templates: [[Attribute]]
    let tell: (String) -> Void

    /// The token denies mechanisms that it lists, or the package's hash.
    struct Denial: Error, CustomStringConvertible {
        let description: String
    }

    func run() throws -> NewPrivateKey {
        guard let rsa = try WrappingKeyPair.privateKey(of: package.wrappingKey, in: token.session) else {
            throw KeyError.unfit(
                "The package is for the wrapping key \(package.wrappingKey), which the token \(token.info.name) does "
                    + "not have. Wrap the key for a wrapping key of this token (privyseal keys wrapping-key).")
        }
        return try open(with: rsa)
    }

    /// - Throws: `Denial`, besides other errors.
    func open(with rsa: ObjectHandle) throws -> NewPrivateKey {
        if let newKey = try openAtOnce(with: rsa) { return newKey }
        let aes = try unwrapAESKey(with: rsa)
        defer { try? token.session.destroy(aes) }
        tell("The token unwrapped the package's AES key.")
        // Some tokens do not list all mechanisms that they have.
        let listed = try token.paddedWraps()
        let mechanisms = listed.isEmpty ? [.aesKeyWrapKWP, .aesKeyWrapPadded] : listed
        let newKey = try explained("unwrap the package's key") {
            try token.unwrap(package.encryptedKey, with: aes, by: mechanisms, templates, as: .unwrappedPackage)
        }
        guard let newKey else {
            throw Denial(
                description:
                    "The token \(token.info.name) unwraps neither by CKM_AES_KEY_WRAP_KWP nor by CKM_AES_KEY_WRAP_PAD, "
                    + "so it cannot open a package.")
        }
        tell("The token unwrapped the key with it (C_UnwrapKey).")
        return newKey
    }

    private func openAtOnce(with rsa: ObjectHandle) throws -> NewPrivateKey? {
        guard try token.has(.rsaAESKeyWrap, for: .unwrap) else { return nil }
        let newKey = try explained("unwrap the package") { () -> NewPrivateKey? in
            do {
                return try token.unwrap(
                    package.encryptedAESKey + package.encryptedKey, with: rsa, by: [.rsaAESKeyWrap],
                    hash: package.hash, templates, as: .unwrappedPackage)
            } catch let error as PKCS11Error where error.returnValue == .argumentsBad {
                // Some tokens answer so to a hash that they do not support; they may accept it in two steps.
                return nil
            }
        }
        if newKey != nil {
            tell("The token unwrapped the key with the wrapping key (C_UnwrapKey, CKM_RSA_AES_KEY_WRAP).")
        }
        return newKey
    }

    /// - Throws: `Denial`, besides other errors.
    func unwrapAESKey(with rsa: ObjectHandle) throws -> ObjectHandle {
        let step = "unwrap the package's AES key"
        return try explained(step) {
            do {
                return try KeyTemplate.firstAccepted(KeyTemplate.transportKey(isGenerated: false)) { template in
                    try token.session.unwrapKey(
                        package.encryptedAESKey, with: rsa, .rsaOAEP, hash: package.hash.oaep, template)
                }.made
            } catch let error as PKCS11Error
                where error.returnValue.deniesMechanism || error.returnValue == .argumentsBad
            {
                // SoftHSM 2.6.1 returns CKR_ARGUMENTS_BAD for a hash that it does not support.
                throw Denial(
                    description:
                        "The token \(token.info.name) could not \(step) by RSA-OAEP with \(package.hash.rawValue) "
                        + "(\(error)). Make a wrapping key (privyseal keys wrapping-key), whose file names a hash "
                        + "that the token supports, and wrap the key again.")
            }
        }
    }

    /// Names the package as the cause of errors that mean damage.
    private func explained<Value>(_ step: String, _ body: () throws -> Value) throws -> Value {
        let damage: [ReturnValue] = [
            .wrappedKeyInvalid, .wrappedKeyLenRange, .encryptedDataInvalid, .dataInvalid, .generalError,
        ]
        do { return try body() } catch let error as PKCS11Error where damage.contains(error.returnValue) {
            throw KeyError.unfit(
                "The token \(token.info.name) could not \(step) (\(error)): the package is damaged or holds no P-256 "
                    + "key.")
        }
    }
}
