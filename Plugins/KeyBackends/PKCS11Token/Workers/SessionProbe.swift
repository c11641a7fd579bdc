internal import PKCS11

/// The result of a signature with another key, in a session in which a key failed.
enum SessionProbe: Sendable {
    /// The other key signed: the session is good, and the first key fails.
    case signed
    case failed(PKCS11Error)
    case noOtherKey
    /// All other keys require a PIN for each signature, so none was tried.
    case othersAskForPIN
}
