import CP11Kit
import Glibc

/// Checks the output of a module before its use. A faulty module may return any number and omit any function.
enum ModuleOutput {
    static let slotLimit = 1024
    static let mechanismLimit = 4096
    /// The maximum size of an attribute, in bytes. Certificates are the longest that are read.
    static let attributeLimit = 65_536

    /// - Parameter limit: the size of the caller's buffer, or the maximum that the caller accepts.
    @inline(__always)
    static func count(
        _ number: UInt, atMost limit: Int, from function: CryptokiFunction
    ) throws(PKCS11Error) -> Int {
        guard let count = Int(exactly: number), count <= limit else { throw excess(number, limit, function) }
        return count
    }

    /// A function of the list, which may be NULL.
    @inline(__always)
    static func function<Pointer>(
        _ function: CryptokiFunction, _ pointer: Pointer?
    ) throws(PKCS11Error) -> Pointer {
        guard let pointer else { throw missing(function) }
        return pointer
    }

    static func missing(_ function: CryptokiFunction) -> PKCS11Error {
        PKCS11Error(
            function, .functionNotSupported,
            detail: "the module has no \(function.rawValue) (NULL in its function list); another version of it may")
    }

    private static func excess(_ number: UInt, _ limit: Int, _ function: CryptokiFunction) -> PKCS11Error {
        PKCS11Error(
            function, .generalError,
            detail:
                "\(function.rawValue) answered CKR_OK with the number \(number), where at most \(limit) are possible")
    }
}

@inline(__always)
func check(_ function: CryptokiFunction, _ answer: CK_RV) throws(PKCS11Error) {
    guard answer == CKR_OK else { throw PKCS11Error(function, ReturnValue(rawValue: answer)) }
}

/// Overwrites the bytes with zeros. The optimiser removes ordinary stores that are never read, but not this one.
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let address = bytes.baseAddress else { return }
    explicit_bzero(address, bytes.count)
}
