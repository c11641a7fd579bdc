internal import PKCS11
internal import SigningKit

/// A login before each signature, for a key that always asks (`CKA_ALWAYS_AUTHENTICATE`).
///
/// All lanes and the keeper come through here, one after the other for each token: a PIN that was refused to one of
/// them is not shown by the next.
struct ContextLogin: Sendable {
    let token: TokenInfo
    /// Nil where it is typed on the token itself.
    let pin: Secret?

    init(_ token: TokenInfo, pin: Secret?) {
        self.token = token
        self.pin = token.flags.contains(.protectedAuthenticationPath) ? nil : pin
    }

    var isRefused: Bool { RefusedPINs.contains(pin, for: token) }

    /// What can be known without asking the token.
    var refusal: KeyError? { isRefused ? Login.refusedBefore(token) : nil }

    /// - Throws: `refused` without showing the PIN when it was refused before, or when the token warns of a lock now.
    func sign<Value>(
        in session: Session, _ body: (Signer.ContextLogin) throws(PKCS11Error) -> Value
    ) throws(SigningFault) -> Value {
        try TokenTurns.alone(with: token) { () throws(SigningFault) in
            try check(session)
            do throws(PKCS11Error) {
                guard let pin else { return try body(Signer.ContextLogin(pin: nil)) }
                return try pin.withBytes { bytes throws(PKCS11Error) in try body(Signer.ContextLogin(pin: bytes)) }
            } catch {
                guard error.function == .login, error.returnValue.refusesPIN else { throw .token(error) }
                RefusedPINs.insert(pin, for: token)
                throw .refused(Login.refusal(error.returnValue, token), by: error)
            }
        }
    }

    private func check(_ session: Session) throws(SigningFault) {
        let now: TokenInfo
        do throws(PKCS11Error) {
            now = try session.module.tokenInfo(of: session.slot)
        } catch {
            throw .token(error)
        }
        do throws(KeyError) {
            try Login.check(pin, now)
        } catch {
            throw .refused(error, by: nil)
        }
    }
}
