/// A Cryptoki function that did not answer `CKR_OK`.
public struct PKCS11Error: Error, Hashable, Sendable {
    public let function: CryptokiFunction
    public let returnValue: ReturnValue
    /// What p11-kit says about a module that it cannot load; it names paths and nothing secret.
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
