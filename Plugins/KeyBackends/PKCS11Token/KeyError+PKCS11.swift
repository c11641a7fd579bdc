internal import PKCS11
internal import SigningKit

/// Maps PKCS #11 errors to `KeyError`.
extension PKCS11Error {
    /// Whether the session or the whole token may now be unusable. Not so for wrong arguments and a lost key handle.
    var endsSession: Bool { !losesKey && returnValue.recovery != .never }

    /// Whether the token no longer knows the key by this handle; it may know it by a new one. The same return value
    /// from `C_Sign` does not count: it leaves open whether the operation has ended.
    var losesKey: Bool { function == .signInit && returnValue.recovery == .handle }

    func whileSigning(with key: String) -> KeyError {
        endsSession || losesKey
            ? .unavailable("The token does not sign with \(key) now: \(self).")
            : .failed("The token does not sign with \(key): \(self).")
    }

    /// For errors while a token is opened or a key is searched for.
    func whileOpening(_ token: String) -> KeyError {
        switch function {
        case .loadModule:
            return .notFound("\(description.prefix(1).uppercased())\(description.dropFirst()).")
        // A retry does not help: the operator must change the URI or the library.
        case .initialize where detail != nil:
            return .unfit("\(description.prefix(1).uppercased())\(description.dropFirst()).")
        default:
            return endsSession
                ? .unavailable("The token \(token) does not answer now: \(self).")
                : .failed("The token \(token) cannot be used: \(self).")
        }
    }
}

/// Runs calls that open a token or search for a key, and throws the `KeyError` of a failed one.
///
/// - Parameter name: of the token or the key, for messages.
func opening<Value>(
    _ name: @autoclosure () -> String, _ body: () throws(PKCS11Error) -> Value
) throws(KeyError) -> Value {
    do throws(PKCS11Error) { return try body() } catch { throw error.whileOpening(name()) }
}
