internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// A token with one read-write session, for one thread.
struct WritableToken: Sendable {
    let info: TokenInfo
    let session: Session

    /// Finds the token and logs in as the signing backend does.
    init(_ locator: KeyLocator, in environment: KeyBackendEnvironment) throws(KeyError) {
        let user = TokenSettings(environment.settings).user
        let opened = try OpenedToken(locator, as: user, in: environment) { slot, module, info throws(KeyError) in
            guard !info.flags.contains(.writeProtected) else { throw info.readOnly("CKF_WRITE_PROTECTED") }
            do throws(PKCS11Error) { return try Session(on: slot, of: module, writable: true) } catch {
                throw error.whileProvisioning(info, "open a read-write session")
            }
        }
        (info, session) = (opened.info, opened.session)
    }

    func close() {
        session.abandon()
        _ = session.module.closeAbandoned(within: 1000)
        session.module.close()
    }

    /// Runs `body`; the error names the step.
    func attempt<Value>(
        _ step: String, _ body: (Session) throws(PKCS11Error) -> Value
    ) throws(KeyError) -> Value {
        do throws(PKCS11Error) { return try body(session) } catch { throw error.whileProvisioning(info, step) }
    }

    func objects(with attributes: [Attribute]) throws(KeyError) -> [ObjectHandle] {
        try attempt("list its keys") { session throws(PKCS11Error) in try session.objects(with: attributes) }
    }

    func destroy(_ objects: [ObjectHandle], _ step: String) throws(KeyError) {
        try attempt(step) { session throws(PKCS11Error) in for object in objects { try session.destroy(object) } }
    }

    // MARK: Mechanisms

    /// Whether the token has the mechanism for this use. Without `C_GetMechanismInfo`, its mechanism list decides.
    func has(_ mechanism: Mechanism, for use: MechanismUse) throws(KeyError) -> Bool {
        try attempt("list its mechanisms") { session throws(PKCS11Error) in
            do throws(PKCS11Error) {
                return try session.module.uses(of: mechanism, on: session.slot).contains(use)
            } catch {
                guard error.returnValue == .functionNotSupported else { throw error }
                return try session.module.mechanisms(on: session.slot).contains(mechanism)
            }
        }
    }

    /// - Throws: `unfit` for a token with which no key can sign, before anything is sent to it.
    func requireSigning() throws(KeyError) {
        guard try !has(.ecdsa, for: .sign) else { return }
        throw .unfit(
            "The token \(info.name) does not list CKM_ECDSA for signing, so a key on it would be of no use. Nothing was sent "
                + "to it. Use another token, or a firmware that has the mechanism.")
    }

    /// The mechanisms of RFC 5649 that the token lists, with the name of PKCS #11 v3.0 first.
    func paddedWraps() throws(KeyError) -> [Mechanism] {
        var found: [Mechanism] = []
        for mechanism in [Mechanism.aesKeyWrapKWP, .aesKeyWrapPadded] where try has(mechanism, for: .unwrap) {
            found.append(mechanism)
        }
        return found
    }

    /// Unwraps a P-256 key by the first of these mechanisms that the token does not deny; nil if it denies all.
    func unwrap(
        _ wrapped: [UInt8], with key: ObjectHandle, by mechanisms: [Mechanism], hash: WrappingHash = .sha1,
        _ templates: [[Attribute]]
    ) throws(PKCS11Error) -> NewPrivateKey? {
        for mechanism in mechanisms {
            do throws(PKCS11Error) {
                let (object, template) = try KeyTemplate.mostCompleteAccepted(templates) {
                    template throws(PKCS11Error) in
                    try session.unwrapKey(wrapped, with: key, mechanism, hash: OAEPHash(hash), template)
                } discard: { object in
                    try? session.destroy(object)
                }
                return NewPrivateKey(object: object, method: .unwrapped, warnings: KeyTemplate.warnings(template))
            } catch {
                guard error.returnValue.deniesMechanism else { throw error }
            }
        }
        return nil
    }
}

/// A private key that is in the token and has not been checked yet.
struct NewPrivateKey {
    let object: ObjectHandle
    var method: ProvisionedKey.Method
    var warnings: [String]
}

extension ReturnValue {
    /// Whether the token denies a mechanism, even if it lists it.
    var deniesMechanism: Bool {
        self == .mechanismInvalid || self == .mechanismParamInvalid || self == .functionNotSupported
    }
}

extension OAEPHash {
    init(_ hash: WrappingHash) {
        self =
            switch hash {
            case .sha1: .sha1
            case .sha256: .sha256
            }
    }
}

extension PKCS11Error {
    /// - Parameter step: continues the sentence "The token could not".
    func whileProvisioning(_ token: TokenInfo, _ step: String) -> KeyError {
        switch returnValue {
        case .deviceMemory:
            return .unfit(
                "The token \(token.name) is full (\(self)). Destroy a retired key on it, or use another token.")
        case .tokenWriteProtected, .sessionReadOnly:
            return token.readOnly("\(self)")
        default:
            let sentence = "The token \(token.name) could not \(step): \(self)."
            return endsSession ? .unavailable(sentence) : .failed(sentence)
        }
    }
}

extension TokenInfo {
    func readOnly(_ evidence: String) -> KeyError {
        .unfit("The token \(name) is read-only (\(evidence)). Remove its write protection, or use another token.")
    }
}
