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
