internal import KeyTransport
internal import PKCS11
internal import SigningKit

extension TokenWorkSession {
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
        _ wrapped: [UInt8], with key: ObjectHandle, by mechanisms: [Mechanism], hash: OAEPHash = .sha1,
        _ templates: [[Attribute]]
    ) throws(PKCS11Error) -> (object: ObjectHandle, warnings: [String])? {
        for mechanism in mechanisms {
            do throws(PKCS11Error) {
                let (object, template) = try KeyTemplate.mostCompleteAccepted(templates) {
                    template throws(PKCS11Error) in
                    try session.unwrapKey(wrapped, with: key, mechanism, hash: hash, template)
                } discard: { object in
                    try? session.destroy(object)
                }
                return (object, KeyTemplate.warnings(template))
            } catch {
                guard error.returnValue.deniesMechanism else { throw error }
            }
        }
        return nil
    }
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
