internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// A package is opened inside the token: first the AES key, then the key.
struct PackageOpening {
    let bench: TokenBench
    let package: WrappedKey
    let name: KeyName
    let tell: @Sendable (String) -> Void

    func run() throws(KeyError) -> ObjectHandle {
        let rsa = try wrappingKey()
        let aes: ObjectHandle
        let object: ObjectHandle
        do throws(PKCS11Error) {
            aes = try bench.session.unwrapKey(
                package.encryptedAESKey, with: rsa, .rsaOAEP, KeyTemplate.transportKey(isGenerated: false))
        } catch {
            throw refusal(error, "unwrap the package's AES key")
        }
        defer { try? bench.session.destroy(aes) }
        tell("The package's AES key was unwrapped in the token.")
        do throws(PKCS11Error) {
            object = try KeyTemplate.ladder(KeyTemplate.privateKey(name)) { template throws(PKCS11Error) in
                try bench.session.unwrapKey(package.encryptedKey, with: aes, .aesKeyWrapPadded, template)
            } discard: { object throws(PKCS11Error) in
                try bench.session.destroy(object)
            }
        } catch {
            throw refusal(error, "unwrap the package's key")
        }
        tell("The key went in by C_UnwrapKey under it.")
        return object
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
