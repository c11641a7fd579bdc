import PKCS11
import SigningKit

/// A login before each signature, for a key with `CKA_ALWAYS_AUTHENTICATE`. All threads log in one after the other for
/// each token, so that no thread sends a PIN that was refused to another.
struct ContextLogin: Sendable {
    let token: TokenInfo
    let credentials: Credentials

    /// A refusal that is known without a call into the token.
    var refusal: KeyError? { Login.refusedBefore(credentials, token) }

    /// - Throws: `refused` without sending the PIN, if it was refused before or the token now warns of a locked PIN.
    func sign<Value>(
        in session: Session, _ body: (Signer.ContextLogin) throws(PKCS11Error) -> Value
    ) throws(SigningFault) -> Value {
        try LoginQueue.alone(with: token) { () throws(SigningFault) in
            try check(session)
            do throws(PKCS11Error) {
                let value = try credentials.withPIN { pin throws(PKCS11Error) in
                    try body(.pin(pin))
                }
                RefusedPINs.remove(credentials.pin, for: token)
                return value
            } catch {
                guard error.function == .login,
                    let refusal = Login.refusal(error, credentials, token, session, isForSignature: true)
                else { throw .token(error) }
                throw .refused(refusal, by: error)
            }
        }
    }

    private func check(_ session: Session) throws(SigningFault) {
        let now: TokenInfo
        do throws(PKCS11Error) { now = try session.module.tokenInfo(of: session.slot) } catch { throw .token(error) }
        do throws(KeyError) { try Login.check(credentials, now) } catch { throw .refused(error, by: nil) }
    }
}
