internal import PKCS11

/// What helps after a call that did not answer `CKR_OK`, as far as the answer tells.
enum RecoveryClass: Sendable {
    /// The call was wrong, not the token: the same call fails again.
    case never
    /// The object is found again, by another handle.
    case handle
    /// A new session.
    case session
    /// A login.
    case login
    /// The token is sought in all slots again.
    case slot
    /// `C_Finalize` and `C_Initialize`.
    case module
    /// A person: another PIN, another setting, or a look at the token.
    case person
    /// The answer names no cause. Another key on the same session shows whether the key or the session is ill.
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

    /// Whether `C_Login` says with this that the PIN is a wrong one, so that only another PIN helps.
    var refusesPIN: Bool {
        switch self {
        case .pinIncorrect, .pinInvalid, .pinLenRange: true
        default: false
        }
    }

    /// Whether `C_Login` says with this that the token did not look at the PIN: the standard names a condition that held
    /// before the call. Every other answer may have cost a try (PKCS #11 v2.40 §5.1, §5.6).
    ///
    /// - Parameter isForSignature: whether the login was for one signature (`CKU_CONTEXT_SPECIFIC`).
    func leavesPINUnchecked(isForSignature: Bool) -> Bool {
        switch self {
        case .cryptokiNotInitialized, .sessionHandleInvalid, .tokenNotPresent, .userAlreadyLoggedIn,
            .userAnotherAlreadyLoggedIn, .userTooManyTypes:
            true
        // No other login needs an operation that was begun.
        case .operationNotInitialized: isForSignature
        default: false
        }
    }
}
