internal import PKCS11

/// What another key did on a session on which a key failed.
enum SessionProbe: Sendable {
    /// It signed: the session is good, the key that failed is not.
    case signed
    /// It failed as well.
    case failed(PKCS11Error)
    /// There is no other key to ask.
    case noOtherKey
    /// There are other keys, and each asks for the PIN before it signs, so that none is asked.
    case othersAskForPIN
}
