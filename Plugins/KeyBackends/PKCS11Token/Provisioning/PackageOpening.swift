internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// A package is opened inside the token: in one call (`CKM_RSA_AES_KEY_WRAP`) where the token can, else first the AES key,
/// then the key.
struct PackageOpening {
    let bench: TokenBench
    let package: WrappedKey
    let templates: [[Attribute]]
    let tell: (String) -> Void

    enum Outcome {
        case arrived(ArrivedKey)
        /// The token denies mechanisms that its list names; a sentence.
        case denied(String)
    }

    func run() throws(KeyError) -> ArrivedKey {
        switch try open(with: try wrappingKey()) {
        case .arrived(let key): return key
        case .denied(let sentence): throw .unfit(sentence)
        }
    }

    func open(with rsa: ObjectHandle) throws(KeyError) -> Outcome {
        if let arrived = try openAtOnce(with: rsa) { return .arrived(arrived) }
        let aes: ObjectHandle
        switch try unwrapAESKey(with: rsa) {
        case .unwrapped(let key): aes = key
        case .denied(let sentence): return .denied(sentence)
        }
        defer { try? bench.session.destroy(aes) }
        tell("The package's AES key was unwrapped in the token.")
        // Some tokens do not list what they have.
        let listed = try bench.paddedWraps()
        let mechanisms = listed.isEmpty ? [.aesKeyWrapKWP, .aesKeyWrapPadded] : listed
        let unwrapped: (object: ObjectHandle, warnings: [String])?
        do throws(PKCS11Error) {
            unwrapped = try bench.unwrap(package.encryptedKey, with: aes, by: mechanisms, templates)
        } catch {
            throw refusal(error, "unwrap the package's key")
        }
        guard let unwrapped else {
            return .denied(
                "The token \(bench.info.name) unwraps neither by CKM_AES_KEY_WRAP_KWP nor by CKM_AES_KEY_WRAP_PAD, so it "
                    + "cannot open a package.")
        }
        tell("The key went in by C_UnwrapKey under it.")
        return .arrived(
            ArrivedKey(object: unwrapped.object, method: .unwrappedPackage, warnings: unwrapped.warnings))
    }

    private func openAtOnce(with rsa: ObjectHandle) throws(KeyError) -> ArrivedKey? {
        guard try bench.has(.rsaAESKeyWrap, for: .unwrap) else { return nil }
        let unwrapped: (object: ObjectHandle, warnings: [String])?
        do throws(PKCS11Error) {
            unwrapped = try bench.unwrap(
                package.encryptedAESKey + package.encryptedKey, with: rsa, by: [.rsaAESKeyWrap],
                hash: OAEPHash(package.hash), templates)
        } catch {
            // Some answer so to a hash that they do not have; in two steps the token may take it.
            if error.returnValue == .argumentsBad { return nil }
            throw refusal(error, "unwrap the package")
        }
        guard let unwrapped else { return nil }
        tell("The key went in by C_UnwrapKey under the wrapping key (CKM_RSA_AES_KEY_WRAP).")
        return ArrivedKey(object: unwrapped.object, method: .unwrappedPackage, warnings: unwrapped.warnings)
    }

    enum AESKeyOutcome {
        case unwrapped(ObjectHandle)
        /// The token denies RSA-OAEP with the package's hash; a sentence.
        case denied(String)
    }

    func unwrapAESKey(with rsa: ObjectHandle) throws(KeyError) -> AESKeyOutcome {
        let step = "unwrap the package's AES key"
        do throws(PKCS11Error) {
            let key = try KeyTemplate.firstAccepted(KeyTemplate.transportKey(isGenerated: false)) {
                template throws(PKCS11Error) in
                try bench.session.unwrapKey(
                    package.encryptedAESKey, with: rsa, .rsaOAEP, hash: OAEPHash(package.hash), template)
            }.made
            return .unwrapped(key)
        } catch {
            // SoftHSM 2.6.1 answers CKR_ARGUMENTS_BAD to a hash that it does not have.
            guard error.returnValue.deniesMechanism || error.returnValue == .argumentsBad else {
                throw refusal(error, step)
            }
            return .denied(
                "The token \(bench.info.name) could not \(step) by RSA-OAEP with \(package.hash.rawValue) (\(error)). Make a "
                    + "wrapping key (privyseal keys wrapping-key), whose file says which hash the token takes, and wrap the "
                    + "key again.")
        }
    }

    private func wrappingKey() throws(KeyError) -> ObjectHandle {
        let found = try bench.attempt("look for the wrapping key") { session throws(PKCS11Error) in
            try WrappingPair.privateKey(of: package.wrappingKey, in: session)
        }
        guard let found else {
            throw .unfit(
                "The package is for the wrapping key \(package.wrappingKey), which the token \(bench.info.name) does "
                    + "not have. Wrap the key for a wrapping key of this token (privyseal keys wrapping-key).")
        }
        return found
    }

    private func refusal(_ error: PKCS11Error, _ step: String) -> KeyError {
        let damage: [ReturnValue] = [
            .wrappedKeyInvalid, .wrappedKeyLenRange, .encryptedDataInvalid, .dataInvalid, .generalError,
        ]
        guard damage.contains(error.returnValue) else { return error.whileProvisioning(bench.info, step) }
        return .unfit(
            "The token \(bench.info.name) could not \(step) (\(error)): the package is damaged or holds no P-256 key.")
    }
}
