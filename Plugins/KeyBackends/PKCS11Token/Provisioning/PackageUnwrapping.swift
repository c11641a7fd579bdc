internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// Unwraps a package in the token: in one call (`CKM_RSA_AES_KEY_WRAP`) if possible, else the AES key and then the key.
struct PackageUnwrapping {
    let token: WritableToken
    let package: WrappedKey
    let templates: [[Attribute]]
    let tell: (String) -> Void

    enum Outcome<Key> {
        case unwrapped(Key)
        /// The token denies mechanisms that it lists, or the package's hash; an error message.
        case denied(String)
    }

    func run() throws(KeyError) -> NewPrivateKey {
        switch try open(with: try wrappingKey()) {
        case .unwrapped(let key): return key
        case .denied(let sentence): throw .unfit(sentence)
        }
    }

    func open(with rsa: ObjectHandle) throws(KeyError) -> Outcome<NewPrivateKey> {
        if let newKey = try openAtOnce(with: rsa) { return .unwrapped(newKey) }
        let aes: ObjectHandle
        switch try unwrapAESKey(with: rsa) {
        case .unwrapped(let key): aes = key
        case .denied(let sentence): return .denied(sentence)
        }
        defer { try? token.session.destroy(aes) }
        tell("The token unwrapped the package's AES key.")
        // Some tokens do not list all mechanisms that they have.
        let listed = try token.paddedWraps()
        let mechanisms = listed.isEmpty ? [.aesKeyWrapKWP, .aesKeyWrapPadded] : listed
        do throws(PKCS11Error) {
            guard var newKey = try token.unwrap(package.encryptedKey, with: aes, by: mechanisms, templates) else {
                return .denied(
                    "The token \(token.info.name) unwraps neither by CKM_AES_KEY_WRAP_KWP nor by CKM_AES_KEY_WRAP_PAD, so "
                        + "it cannot open a package.")
            }
            tell("The token unwrapped the key with it (C_UnwrapKey).")
            newKey.method = .unwrappedPackage
            return .unwrapped(newKey)
        } catch {
            throw refusal(error, "unwrap the package's key")
        }
    }

    private func openAtOnce(with rsa: ObjectHandle) throws(KeyError) -> NewPrivateKey? {
        guard try token.has(.rsaAESKeyWrap, for: .unwrap) else { return nil }
        do throws(PKCS11Error) {
            let wrapped = package.encryptedAESKey + package.encryptedKey
            guard
                var newKey = try token.unwrap(wrapped, with: rsa, by: [.rsaAESKeyWrap], hash: package.hash, templates)
            else { return nil }
            tell("The token unwrapped the key with the wrapping key (C_UnwrapKey, CKM_RSA_AES_KEY_WRAP).")
            newKey.method = .unwrappedPackage
            return newKey
        } catch {
            // Some tokens answer so to a hash that they do not support; they may accept it in two steps.
            if error.returnValue == .argumentsBad { return nil }
            throw refusal(error, "unwrap the package")
        }
    }

    func unwrapAESKey(with rsa: ObjectHandle) throws(KeyError) -> Outcome<ObjectHandle> {
        let step = "unwrap the package's AES key"
        do throws(PKCS11Error) {
            let key = try KeyTemplate.firstAccepted(KeyTemplate.transportKey(isGenerated: false)) {
                template throws(PKCS11Error) in
                try token.session.unwrapKey(
                    package.encryptedAESKey, with: rsa, .rsaOAEP, hash: OAEPHash(package.hash), template)
            }.made
            return .unwrapped(key)
        } catch {
            // SoftHSM 2.6.1 returns CKR_ARGUMENTS_BAD for a hash that it does not support.
            guard error.returnValue.deniesMechanism || error.returnValue == .argumentsBad else {
                throw refusal(error, step)
            }
            return .denied(
                "The token \(token.info.name) could not \(step) by RSA-OAEP with \(package.hash.rawValue) (\(error)). Make a "
                    + "wrapping key (privyseal keys wrapping-key), whose file names a hash that the token supports, "
                    + "and wrap the key again.")
        }
    }

    private func wrappingKey() throws(KeyError) -> ObjectHandle {
        let found = try token.attempt("look for the wrapping key") { session throws(PKCS11Error) in
            try WrappingKeyPair.privateKey(of: package.wrappingKey, in: session)
        }
        guard let found else {
            throw .unfit(
                "The package is for the wrapping key \(package.wrappingKey), which the token \(token.info.name) does "
                    + "not have. Wrap the key for a wrapping key of this token (privyseal keys wrapping-key).")
        }
        return found
    }

    private func refusal(_ error: PKCS11Error, _ step: String) -> KeyError {
        let damage: [ReturnValue] = [
            .wrappedKeyInvalid, .wrappedKeyLenRange, .encryptedDataInvalid, .dataInvalid, .generalError,
        ]
        guard damage.contains(error.returnValue) else { return error.whileProvisioning(token.info, step) }
        return .unfit(
            "The token \(token.info.name) could not \(step) (\(error)): the package is damaged or holds no P-256 key."
        )
    }
}
