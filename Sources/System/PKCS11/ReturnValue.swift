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
    public var description: String {
        Self.names[rawValue] ?? "CKR 0x" + String(rawValue, radix: 16)
    }
}
