internal import PKCS11
internal import SigningKit

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
