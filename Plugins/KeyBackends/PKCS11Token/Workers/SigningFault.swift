import PKCS11
import SigningKit

/// Why a key made no signature.
enum SigningFault: Error {
    case token(PKCS11Error)
    /// The token refused the PIN for the signature. If `by` is nil, the token was not asked: its PIN was refused
    /// before, or the key is absent.
    case refused(KeyError, by: PKCS11Error?)

    /// A refusal by the token leaves an operation active, so the session is unusable. A refusal without a call does
    /// not.
    var endsSession: Bool {
        switch self {
        case .token(let error): error.endsSession
        case .refused(_, let answer): answer != nil
        }
    }

    func whileSigning(with key: String) -> KeyError {
        switch self {
        case .token(let error): error.whileSigning(with: key)
        case .refused(let error, _): error
        }
    }
}

extension PKCS11Error {
    /// Whether the return value shows that the key is not at fault.
    var namesSession: Bool {
        switch returnValue.recovery {
        case .session, .login, .slot, .module: true
        case .never, .handle, .person, .unknown: false
        }
    }

    /// Whether the session may be good although the key failed in it: the return value does not name the session, no
    /// operation is active, and the session reports that the user is logged in.
    func leavesSession(_ session: Session) -> Bool {
        guard function == .signInit || function == .sign, returnValue != .bufferTooSmall else { return false }
        switch returnValue.recovery {
        case .unknown, .handle: return (try? session.isLoggedIn()) == true
        case .never, .session, .login, .slot, .module, .person: return false
        }
    }
}

/// The result of a signature with another key, in a session in which a key failed.
enum SessionProbe: Sendable {
    /// The other key signed: the session is good, and the first key fails.
    case signed
    case failed(PKCS11Error)
    case noOtherKey
    /// All other keys require a PIN for each signature, so none was tried.
    case othersAskForPIN
}
