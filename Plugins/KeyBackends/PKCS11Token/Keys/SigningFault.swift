internal import PKCS11
internal import SigningKit

/// Why a key gave no signature.
enum SigningFault: Error {
    case token(PKCS11Error)
    /// The PIN for a signature was refused by the token. Without an answer of the token: it was not asked at all.
    case refused(KeyError, by: PKCS11Error?)

    /// A refusal of the token leaves the operation that was begun, and with it the session, of no use. One that was
    /// made up here left the session alone.
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
