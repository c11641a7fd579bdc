import CP11Kit

/// The return value of a Cryptoki function (`CK_RV`, PKCS #11 v2.40 §5.1).
public struct ReturnValue: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let ok = ReturnValue(rawValue: CKR_OK)
    public static let slotIDInvalid = ReturnValue(rawValue: CKR_SLOT_ID_INVALID)
    public static let generalError = ReturnValue(rawValue: CKR_GENERAL_ERROR)
    public static let functionFailed = ReturnValue(rawValue: CKR_FUNCTION_FAILED)
    public static let cantLock = ReturnValue(rawValue: CKR_CANT_LOCK)
    public static let argumentsBad = ReturnValue(rawValue: CKR_ARGUMENTS_BAD)
    public static let attributeSensitive = ReturnValue(rawValue: CKR_ATTRIBUTE_SENSITIVE)
    public static let attributeTypeInvalid = ReturnValue(rawValue: CKR_ATTRIBUTE_TYPE_INVALID)
    public static let attributeValueInvalid = ReturnValue(rawValue: CKR_ATTRIBUTE_VALUE_INVALID)
    public static let dataInvalid = ReturnValue(rawValue: CKR_DATA_INVALID)
    public static let dataLenRange = ReturnValue(rawValue: CKR_DATA_LEN_RANGE)
    public static let deviceError = ReturnValue(rawValue: CKR_DEVICE_ERROR)
    public static let deviceMemory = ReturnValue(rawValue: CKR_DEVICE_MEMORY)
    public static let deviceRemoved = ReturnValue(rawValue: CKR_DEVICE_REMOVED)
    public static let functionNotSupported = ReturnValue(rawValue: CKR_FUNCTION_NOT_SUPPORTED)
    public static let keyHandleInvalid = ReturnValue(rawValue: CKR_KEY_HANDLE_INVALID)
    public static let keySizeRange = ReturnValue(rawValue: CKR_KEY_SIZE_RANGE)
    public static let keyTypeInconsistent = ReturnValue(rawValue: CKR_KEY_TYPE_INCONSISTENT)
    public static let keyFunctionNotPermitted = ReturnValue(rawValue: CKR_KEY_FUNCTION_NOT_PERMITTED)
    public static let keyUnextractable = ReturnValue(rawValue: CKR_KEY_UNEXTRACTABLE)
    public static let mechanismInvalid = ReturnValue(rawValue: CKR_MECHANISM_INVALID)
    public static let mechanismParamInvalid = ReturnValue(rawValue: CKR_MECHANISM_PARAM_INVALID)
    public static let objectHandleInvalid = ReturnValue(rawValue: CKR_OBJECT_HANDLE_INVALID)
    public static let operationNotInitialized = ReturnValue(rawValue: CKR_OPERATION_NOT_INITIALIZED)
    public static let operationActive = ReturnValue(rawValue: CKR_OPERATION_ACTIVE)
    public static let pinIncorrect = ReturnValue(rawValue: CKR_PIN_INCORRECT)
    public static let pinInvalid = ReturnValue(rawValue: CKR_PIN_INVALID)
    public static let pinLenRange = ReturnValue(rawValue: CKR_PIN_LEN_RANGE)
    public static let pinExpired = ReturnValue(rawValue: CKR_PIN_EXPIRED)
    public static let pinLocked = ReturnValue(rawValue: CKR_PIN_LOCKED)
    public static let sessionClosed = ReturnValue(rawValue: CKR_SESSION_CLOSED)
    public static let sessionCount = ReturnValue(rawValue: CKR_SESSION_COUNT)
    public static let sessionHandleInvalid = ReturnValue(rawValue: CKR_SESSION_HANDLE_INVALID)
    public static let tokenNotPresent = ReturnValue(rawValue: CKR_TOKEN_NOT_PRESENT)
    public static let tokenNotRecognized = ReturnValue(rawValue: CKR_TOKEN_NOT_RECOGNIZED)
    public static let attributeReadOnly = ReturnValue(rawValue: CKR_ATTRIBUTE_READ_ONLY)
    public static let encryptedDataInvalid = ReturnValue(rawValue: CKR_ENCRYPTED_DATA_INVALID)
    public static let sessionReadOnly = ReturnValue(rawValue: CKR_SESSION_READ_ONLY)
    public static let templateInconsistent = ReturnValue(rawValue: CKR_TEMPLATE_INCONSISTENT)
    public static let tokenWriteProtected = ReturnValue(rawValue: CKR_TOKEN_WRITE_PROTECTED)
    public static let wrappedKeyInvalid = ReturnValue(rawValue: CKR_WRAPPED_KEY_INVALID)
    public static let wrappedKeyLenRange = ReturnValue(rawValue: CKR_WRAPPED_KEY_LEN_RANGE)
    public static let userAlreadyLoggedIn = ReturnValue(rawValue: CKR_USER_ALREADY_LOGGED_IN)
    public static let userAnotherAlreadyLoggedIn = ReturnValue(rawValue: CKR_USER_ANOTHER_ALREADY_LOGGED_IN)
    public static let userTooManyTypes = ReturnValue(rawValue: CKR_USER_TOO_MANY_TYPES)
    public static let userNotLoggedIn = ReturnValue(rawValue: CKR_USER_NOT_LOGGED_IN)
    public static let userPINNotInitialized = ReturnValue(rawValue: CKR_USER_PIN_NOT_INITIALIZED)
    public static let userTypeInvalid = ReturnValue(rawValue: CKR_USER_TYPE_INVALID)
    public static let bufferTooSmall = ReturnValue(rawValue: CKR_BUFFER_TOO_SMALL)
    public static let cryptokiNotInitialized = ReturnValue(rawValue: CKR_CRYPTOKI_NOT_INITIALIZED)
}

extension ReturnValue: CustomStringConvertible {
    /// The name in the standard, such as `CKR_PIN_INCORRECT`, or the number of a value without a name.
    public var description: String { Self.names[rawValue] ?? "CKR 0x" + String(rawValue, radix: 16) }
}

extension ReturnValue {
    /// Every value that the standard names, sorted by number.
    public static var standard: [ReturnValue] { names.keys.sorted().map(ReturnValue.init(rawValue:)) }

    /// By value, for messages.
    static let names: [UInt: String] = [
        CKR_OK: "CKR_OK",
        CKR_CANCEL: "CKR_CANCEL",
        CKR_HOST_MEMORY: "CKR_HOST_MEMORY",
        CKR_SLOT_ID_INVALID: "CKR_SLOT_ID_INVALID",
        CKR_GENERAL_ERROR: "CKR_GENERAL_ERROR",
        CKR_FUNCTION_FAILED: "CKR_FUNCTION_FAILED",
        CKR_ARGUMENTS_BAD: "CKR_ARGUMENTS_BAD",
        CKR_NO_EVENT: "CKR_NO_EVENT",
        CKR_NEED_TO_CREATE_THREADS: "CKR_NEED_TO_CREATE_THREADS",
        CKR_CANT_LOCK: "CKR_CANT_LOCK",
        CKR_ATTRIBUTE_READ_ONLY: "CKR_ATTRIBUTE_READ_ONLY",
        CKR_ATTRIBUTE_SENSITIVE: "CKR_ATTRIBUTE_SENSITIVE",
        CKR_ATTRIBUTE_TYPE_INVALID: "CKR_ATTRIBUTE_TYPE_INVALID",
        CKR_ATTRIBUTE_VALUE_INVALID: "CKR_ATTRIBUTE_VALUE_INVALID",
        CKR_ACTION_PROHIBITED: "CKR_ACTION_PROHIBITED",
        CKR_DATA_INVALID: "CKR_DATA_INVALID",
        CKR_DATA_LEN_RANGE: "CKR_DATA_LEN_RANGE",
        CKR_DEVICE_ERROR: "CKR_DEVICE_ERROR",
        CKR_DEVICE_MEMORY: "CKR_DEVICE_MEMORY",
        CKR_DEVICE_REMOVED: "CKR_DEVICE_REMOVED",
        CKR_ENCRYPTED_DATA_INVALID: "CKR_ENCRYPTED_DATA_INVALID",
        CKR_ENCRYPTED_DATA_LEN_RANGE: "CKR_ENCRYPTED_DATA_LEN_RANGE",
        CKR_FUNCTION_CANCELED: "CKR_FUNCTION_CANCELED",
        CKR_FUNCTION_NOT_PARALLEL: "CKR_FUNCTION_NOT_PARALLEL",
        CKR_FUNCTION_NOT_SUPPORTED: "CKR_FUNCTION_NOT_SUPPORTED",
        CKR_KEY_HANDLE_INVALID: "CKR_KEY_HANDLE_INVALID",
        CKR_KEY_SIZE_RANGE: "CKR_KEY_SIZE_RANGE",
        CKR_KEY_TYPE_INCONSISTENT: "CKR_KEY_TYPE_INCONSISTENT",
        CKR_KEY_NOT_NEEDED: "CKR_KEY_NOT_NEEDED",
        CKR_KEY_CHANGED: "CKR_KEY_CHANGED",
        CKR_KEY_NEEDED: "CKR_KEY_NEEDED",
        CKR_KEY_INDIGESTIBLE: "CKR_KEY_INDIGESTIBLE",
        CKR_KEY_FUNCTION_NOT_PERMITTED: "CKR_KEY_FUNCTION_NOT_PERMITTED",
        CKR_KEY_NOT_WRAPPABLE: "CKR_KEY_NOT_WRAPPABLE",
        CKR_KEY_UNEXTRACTABLE: "CKR_KEY_UNEXTRACTABLE",
        CKR_MECHANISM_INVALID: "CKR_MECHANISM_INVALID",
        CKR_MECHANISM_PARAM_INVALID: "CKR_MECHANISM_PARAM_INVALID",
        CKR_OBJECT_HANDLE_INVALID: "CKR_OBJECT_HANDLE_INVALID",
        CKR_OPERATION_ACTIVE: "CKR_OPERATION_ACTIVE",
        CKR_OPERATION_NOT_INITIALIZED: "CKR_OPERATION_NOT_INITIALIZED",
        CKR_PIN_INCORRECT: "CKR_PIN_INCORRECT",
        CKR_PIN_INVALID: "CKR_PIN_INVALID",
        CKR_PIN_LEN_RANGE: "CKR_PIN_LEN_RANGE",
        CKR_PIN_EXPIRED: "CKR_PIN_EXPIRED",
        CKR_PIN_LOCKED: "CKR_PIN_LOCKED",
        CKR_SESSION_CLOSED: "CKR_SESSION_CLOSED",
        CKR_SESSION_COUNT: "CKR_SESSION_COUNT",
        CKR_SESSION_HANDLE_INVALID: "CKR_SESSION_HANDLE_INVALID",
        CKR_SESSION_PARALLEL_NOT_SUPPORTED: "CKR_SESSION_PARALLEL_NOT_SUPPORTED",
        CKR_SESSION_READ_ONLY: "CKR_SESSION_READ_ONLY",
        CKR_SESSION_EXISTS: "CKR_SESSION_EXISTS",
        CKR_SESSION_READ_ONLY_EXISTS: "CKR_SESSION_READ_ONLY_EXISTS",
        CKR_SESSION_READ_WRITE_SO_EXISTS: "CKR_SESSION_READ_WRITE_SO_EXISTS",
        CKR_SIGNATURE_INVALID: "CKR_SIGNATURE_INVALID",
        CKR_SIGNATURE_LEN_RANGE: "CKR_SIGNATURE_LEN_RANGE",
        CKR_TEMPLATE_INCOMPLETE: "CKR_TEMPLATE_INCOMPLETE",
        CKR_TEMPLATE_INCONSISTENT: "CKR_TEMPLATE_INCONSISTENT",
        CKR_TOKEN_NOT_PRESENT: "CKR_TOKEN_NOT_PRESENT",
        CKR_TOKEN_NOT_RECOGNIZED: "CKR_TOKEN_NOT_RECOGNIZED",
        CKR_TOKEN_WRITE_PROTECTED: "CKR_TOKEN_WRITE_PROTECTED",
        CKR_UNWRAPPING_KEY_HANDLE_INVALID: "CKR_UNWRAPPING_KEY_HANDLE_INVALID",
        CKR_UNWRAPPING_KEY_SIZE_RANGE: "CKR_UNWRAPPING_KEY_SIZE_RANGE",
        CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT: "CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT",
        CKR_USER_ALREADY_LOGGED_IN: "CKR_USER_ALREADY_LOGGED_IN",
        CKR_USER_NOT_LOGGED_IN: "CKR_USER_NOT_LOGGED_IN",
        CKR_USER_PIN_NOT_INITIALIZED: "CKR_USER_PIN_NOT_INITIALIZED",
        CKR_USER_TYPE_INVALID: "CKR_USER_TYPE_INVALID",
        CKR_USER_ANOTHER_ALREADY_LOGGED_IN: "CKR_USER_ANOTHER_ALREADY_LOGGED_IN",
        CKR_USER_TOO_MANY_TYPES: "CKR_USER_TOO_MANY_TYPES",
        CKR_WRAPPED_KEY_INVALID: "CKR_WRAPPED_KEY_INVALID",
        CKR_WRAPPED_KEY_LEN_RANGE: "CKR_WRAPPED_KEY_LEN_RANGE",
        CKR_WRAPPING_KEY_HANDLE_INVALID: "CKR_WRAPPING_KEY_HANDLE_INVALID",
        CKR_WRAPPING_KEY_SIZE_RANGE: "CKR_WRAPPING_KEY_SIZE_RANGE",
        CKR_WRAPPING_KEY_TYPE_INCONSISTENT: "CKR_WRAPPING_KEY_TYPE_INCONSISTENT",
        CKR_RANDOM_SEED_NOT_SUPPORTED: "CKR_RANDOM_SEED_NOT_SUPPORTED",
        CKR_RANDOM_NO_RNG: "CKR_RANDOM_NO_RNG",
        CKR_DOMAIN_PARAMS_INVALID: "CKR_DOMAIN_PARAMS_INVALID",
        CKR_CURVE_NOT_SUPPORTED: "CKR_CURVE_NOT_SUPPORTED",
        CKR_BUFFER_TOO_SMALL: "CKR_BUFFER_TOO_SMALL",
        CKR_SAVED_STATE_INVALID: "CKR_SAVED_STATE_INVALID",
        CKR_INFORMATION_SENSITIVE: "CKR_INFORMATION_SENSITIVE",
        CKR_STATE_UNSAVEABLE: "CKR_STATE_UNSAVEABLE",
        CKR_CRYPTOKI_NOT_INITIALIZED: "CKR_CRYPTOKI_NOT_INITIALIZED",
        CKR_CRYPTOKI_ALREADY_INITIALIZED: "CKR_CRYPTOKI_ALREADY_INITIALIZED",
        CKR_MUTEX_BAD: "CKR_MUTEX_BAD",
        CKR_MUTEX_NOT_LOCKED: "CKR_MUTEX_NOT_LOCKED",
        CKR_NEW_PIN_MODE: "CKR_NEW_PIN_MODE",
        CKR_NEXT_OTP: "CKR_NEXT_OTP",
        // From the standard's header: p11-kit 0.24 has other numbers for these five.
        0x1B5: "CKR_EXCEEDED_MAX_ITERATIONS",
        0x1B6: "CKR_FIPS_SELF_TEST_FAILED",
        0x1B7: "CKR_LIBRARY_LOAD_FAILED",
        0x1B8: "CKR_PIN_TOO_WEAK",
        0x1B9: "CKR_PUBLIC_KEY_INVALID",
        CKR_FUNCTION_REJECTED: "CKR_FUNCTION_REJECTED",
        // PKCS #11 v3.0, 3.1 and 3.2; p11-kit 0.24 has v2.40.
        0x42: "CKR_AEAD_DECRYPT_FAILED",
        0x201: "CKR_TOKEN_RESOURCE_EXCEEDED",
        0x202: "CKR_OPERATION_CANCEL_FAILED",
        0x203: "CKR_KEY_EXHAUSTED",
        0x204: "CKR_PENDING",
        0x205: "CKR_SESSION_ASYNC_NOT_SUPPORTED",
        0x206: "CKR_SEED_RANDOM_REQUIRED",
        0x207: "CKR_OPERATION_NOT_VALIDATED",
        0x208: "CKR_TOKEN_NOT_INITIALIZED",
        0x209: "CKR_PARAMETER_SET_NOT_SUPPORTED",
    ]
}
