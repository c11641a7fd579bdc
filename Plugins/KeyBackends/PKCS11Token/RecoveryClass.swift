internal import PKCS11

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
