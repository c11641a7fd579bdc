internal import PKCS11
internal import SigningKit

/// A login before each signature, for a key that always asks (`CKA_ALWAYS_AUTHENTICATE`).
///
/// All lanes and the keeper come through here, one after the other for each token: a PIN that was refused to one of
/// them is not shown by the next.
struct ContextLogin: Sendable {
    let token: TokenInfo
    let credentials: Credentials

    /// What can be known without asking the token.
    var refusal: KeyError? { Login.refusedBefore(credentials, token) }

    /// - Throws: `refused` without showing the PIN when it was refused before, or when the token warns of a lock now.
    func sign<Value>(
        in session: Session, _ body: (Signer.ContextLogin) throws(PKCS11Error) -> Value
    ) throws(SigningFault) -> Value {
        try TokenTurns.alone(with: token) { () throws(SigningFault) in
            try check(session)
            do throws(PKCS11Error) {
                let value = try credentials.withPIN { pin throws(PKCS11Error) in
                    try body(Signer.ContextLogin(pin: pin))
                }
                RefusedPINs.remove(credentials.pin, for: token)
                return value
            } catch {
                guard error.function == .login,
                    let refusal = Login.refusal(error, credentials.pin, token, session, isForSignature: true)
                else { throw .token(error) }
                throw .refused(refusal, by: error)
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
            try Login.check(credentials, now)
        } catch {
            throw .refused(error, by: nil)
        }
    }
}
