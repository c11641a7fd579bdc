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
    public var description: String { detail ?? "\(function.name) answered \(returnValue)" }
}

/// The functions of Cryptoki and p11-kit in use.
public enum CryptokiFunction: String, Sendable {
    case loadModule, initialize, finalize, getInfo
    case getSlotList, getSlotInfo, getTokenInfo, getMechanismList, getMechanismInfo, initToken
    case openSession, closeSession, getSessionInfo, initPIN, login, logout
    case createObject, destroyObject, getAttributeValue, findObjectsInit, findObjects, findObjectsFinal
    case generateKey, generateKeyPair, wrapKey, unwrapKey
    case signInit, sign, encryptInit, encrypt

    /// The name in manuals and traces, such as `C_SignInit`.
    public var name: String {
        self == .loadModule ? "p11_kit_module_load" : "C_\(rawValue.prefix(1).uppercased())\(rawValue.dropFirst())"
    }
}
