internal import PKCS11
internal import SigningKit

/// The one place where errors of a token become errors of a key.
extension PKCS11Error {
    /// Whether the session, or more than it, may be of no use after this. That is so for everything but a complaint about
    /// what was asked, and for a key that is gone.
    var endsSession: Bool { !losesKey && returnValue.recovery != .never }

    /// Whether the token does not know the key by its handle any more; by another one it may. From `C_Sign` the same
    /// answer says nothing certain: whether the operation is over is not known then.
    var losesKey: Bool { function == .signInit && returnValue.recovery == .handle }

    func whileSigning(with key: String) -> KeyError {
        endsSession || losesKey
            ? .unavailable("The token does not sign with \(key) now: \(self).")
            : .failed("The token does not sign with \(key): \(self).")
    }

    /// While a token is opened or a key is sought on it.
    func whileOpening(_ token: String) -> KeyError {
        switch function {
        case .loadModule:
            return .notFound("\(description.prefix(1).uppercased())\(description.dropFirst()).")
        // A later attempt does not help: a person has to change the URI or the library.
        case .initialize where detail != nil:
            return .unfit("\(description.prefix(1).uppercased())\(description.dropFirst()).")
        default:
            return endsSession
                ? .unavailable("The token \(token) does not answer now: \(self).")
                : .failed("The token \(token) cannot be used: \(self).")
        }
    }
}
