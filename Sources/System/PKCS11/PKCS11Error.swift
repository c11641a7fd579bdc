/// A Cryptoki call that did not return `CKR_OK`.
public struct PKCS11Error: Error, Hashable, Sendable {
    public let function: CryptokiFunction
    public let returnValue: ReturnValue
    /// A message that replaces function and return value. It may name paths, but nothing secret.
    public let detail: String?

    public init(_ function: CryptokiFunction, _ returnValue: ReturnValue, detail: String? = nil) {
        self.function = function
        self.returnValue = returnValue
        self.detail = detail
    }
}

extension PKCS11Error: CustomStringConvertible {
    public var description: String {
        detail ?? "\(function.rawValue) answered \(returnValue)"
    }
}

/// The functions of Cryptoki and p11-kit in use, by their names in manuals and traces.
public enum CryptokiFunction: String, Sendable {
    case loadModule = "p11_kit_module_load"
    case initialize = "C_Initialize"
    case finalize = "C_Finalize"
    case getSlotList = "C_GetSlotList"
    case getTokenInfo = "C_GetTokenInfo"
    case initToken = "C_InitToken"
    case initPIN = "C_InitPIN"
    case getInfo = "C_GetInfo"
    case getSlotInfo = "C_GetSlotInfo"
    case getMechanismList = "C_GetMechanismList"
    case openSession = "C_OpenSession"
    case closeSession = "C_CloseSession"
    case getSessionInfo = "C_GetSessionInfo"
    case login = "C_Login"
    case logout = "C_Logout"
    case createObject = "C_CreateObject"
    case destroyObject = "C_DestroyObject"
    case getAttributeValue = "C_GetAttributeValue"
    case findObjectsInit = "C_FindObjectsInit"
    case findObjects = "C_FindObjects"
    case findObjectsFinal = "C_FindObjectsFinal"
    case signInit = "C_SignInit"
    case sign = "C_Sign"
    case generateKeyPair = "C_GenerateKeyPair"
    case generateKey = "C_GenerateKey"
    case getMechanismInfo = "C_GetMechanismInfo"
    case encryptInit = "C_EncryptInit"
    case encrypt = "C_Encrypt"
    case wrapKey = "C_WrapKey"
    case unwrapKey = "C_UnwrapKey"
}
