/// What a module hands over besides its return value. A faulty module may answer any number and leave any function out,
/// so nothing of it is used before it passed here.
enum ModuleAnswer {
    /// Slots of one module.
    static let slotLimit = 1024
    /// Mechanisms of one token.
    static let mechanismLimit = 4096
    /// Bytes of one attribute; certificates are the longest that are read.
    static let attributeLimit = 65_536

    /// A count or a length as an `Int`.
    ///
    /// - Parameter limit: what the caller has room for, or takes.
    @inline(__always)
    static func count(
        _ number: UInt, atMost limit: Int, from function: CryptokiFunction
    ) throws(PKCS11Error) -> Int {
        guard let count = Int(exactly: number), count <= limit else { throw excess(number, limit, function) }
        return count
    }

    /// A function of the list; a module may have left it NULL.
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
