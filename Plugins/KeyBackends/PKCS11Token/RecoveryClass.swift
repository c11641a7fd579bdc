import PKCS11
import SigningKit

/// The measure that helps after a call that did not return `CKR_OK`, as far as the return value tells.
enum RecoveryClass: Sendable {
    /// The call is at fault, not the token: the same call fails again.
    case never
    /// A new search, which finds the object by another handle.
    case handle
    case session
    case login
    /// A new search for the token in all slots.
    case slot
    /// `C_Finalize` and `C_Initialize`.
    case module
    /// Action by the operator: another PIN, another setting, or an inspection of the token.
    case person
    /// The return value names no cause. Another key in the same session shows whether the key or the session fails.
    case unknown
}

extension ReturnValue {
    var recovery: RecoveryClass {
        switch self {
        case .argumentsBad, .attributeTypeInvalid, .attributeSensitive, .attributeValueInvalid, .dataInvalid,
            .dataLenRange, .functionNotSupported, .keyFunctionNotPermitted, .keySizeRange, .keyTypeInconsistent,
            .mechanismInvalid, .mechanismParamInvalid:
            .never
        case .keyHandleInvalid, .objectHandleInvalid: .handle
        case .sessionClosed, .sessionHandleInvalid, .sessionCount, .operationActive, .operationNotInitialized: .session
        case .userNotLoggedIn: .login
        case .slotIDInvalid, .tokenNotPresent, .tokenNotRecognized, .deviceRemoved: .slot
        case .cryptokiNotInitialized: .module
        case .pinIncorrect, .pinInvalid, .pinLenRange, .pinExpired, .pinLocked, .userPINNotInitialized,
            .userTypeInvalid:
            .person
        default: .unknown
        }
    }

    /// Whether `C_Login` reports with this value that the PIN is wrong, so that only another PIN helps.
    var refusesPIN: Bool {
        switch self {
        case .pinIncorrect, .pinInvalid, .pinLenRange: true
        default: false
        }
    }

    /// Whether `C_Login` names with this value a condition that held before the call, so that it did not check the PIN.
    /// After any other value, the token may have counted the attempt (PKCS #11 v2.40 §5.1, §5.6).
    ///
    /// - Parameter isForSignature: whether the login is for one signature (`CKU_CONTEXT_SPECIFIC`).
    func leavesPINUnchecked(isForSignature: Bool) -> Bool {
        switch self {
        case .cryptokiNotInitialized, .sessionHandleInvalid, .tokenNotPresent, .userAlreadyLoggedIn,
            .userAnotherAlreadyLoggedIn, .userTooManyTypes:
            true
        // Only a login for one signature requires an active operation.
        case .operationNotInitialized: isForSignature
        default: false
        }
    }
}

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
            let cure =
                function == .initialize
                ? " The module does not start: check its own configuration, such as the file that SOFTHSM2_CONF names."
                : ""
            return endsSession
                ? .unavailable("The token \(token) does not answer now: \(self).\(cure)")
                : .failed("The token \(token) cannot be used: \(self).\(cure)")
        }
    }
}
