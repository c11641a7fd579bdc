internal import CP11Kit
internal import Glibc
internal import Synchronization

/// A PKCS #11 library, loaded by p11-kit: only the one that was named, and not those that the system has configured.
///
/// A library has one state for a whole process, so there is one `Module` for each file, shared by all who open it. It
/// is initialised for the first of them, and finalised (`C_Finalize`) and unloaded after the last.
public final class Module: @unchecked Sendable {
    // Everything that changes is atomic or behind a lock; a function list is a constant of the library.

    /// Of the library's file, with symbolic links resolved.
    public let path: String
    let gate = ModuleGate()
    private let functionList = Atomic<UnsafeMutablePointer<CK_FUNCTION_LIST>?>(nil)
    private let initialisations = Atomic<Int>(0)
    private let users = Mutex(Users())
    /// Sessions without a user that could not be closed yet, because a call was under way.
    let abandoned = Mutex<[Session]>([])

    private struct Users {
        var count = 0
        /// For `C_Initialize`; the first user's.
        var arguments: InitializationArguments?
    }

    init(path: String) {
        self.path = path
    }

    var functions: UnsafeMutablePointer<CK_FUNCTION_LIST>? { functionList.load(ordering: .acquiring) }

    /// Grows with each initialisation. Sessions and handles are of one generation.
    public var generation: Int { initialisations.load(ordering: .acquiring) }

    /// Counts one more user; the first loads and initialises the library.
    func addUser(_ arguments: String?) throws(PKCS11Error) {
        let failure: PKCS11Error? = users.withLock { users in
            do throws(PKCS11Error) {
                if users.count == 0 {
                    if users.arguments?.text != arguments {
                        users.arguments = arguments.map { InitializationArguments($0) }
                    }
                    try load(users.arguments)
                }
                guard users.arguments?.text == arguments else { throw .differentArguments(path) }
                users.count += 1
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Once for each `open`. Sessions must be closed or given up before; after the last user's the library is
    /// finalised and unloaded, unless a call into it hangs: then it stays, because taking it away would crash.
    public func close() {
        users.withLock { users in
            users.count -= 1
            guard users.count == 0, let functions = functionList.load(ordering: .acquiring) else { return }
            _ = gate.alone(within: 1000) {
                _ = p11_kit_module_finalize(functions)
                p11_kit_module_release(functions)
                functionList.store(nil, ordering: .releasing)
                initialisations.add(1, ordering: .acquiringAndReleasing)
            }
        }
    }

    /// `C_Finalize` and `C_Initialize`, with no call in flight: the last resort for a library that lost its token.
    ///
    /// - Parameter generation: the one that is bad. When it is past already, nothing is done.
    /// - Returns: false when calls were still under way after `milliseconds`.
    public func reinitialize(after generation: Int, within milliseconds: Int) throws(PKCS11Error) -> Bool {
        let arguments = users.withLock { $0.arguments }
        let done: Void? = try gate.alone(within: milliseconds) { () throws(PKCS11Error) in
            guard initialisations.load(ordering: .acquiring) == generation,
                let functions = functionList.load(ordering: .acquiring)
            else { return }
            // Whatever it answers, what counts is whether it can be initialised again.
            _ = p11_kit_module_finalize(functions)
            let answer = Self.initialize(functions, arguments)
            guard answer == .ok else { throw .uninitialized(path, answer) }
            initialisations.add(1, ordering: .acquiringAndReleasing)
        }
        return done != nil
    }

    private func load(_ arguments: InitializationArguments?) throws(PKCS11Error) {
        if functionList.load(ordering: .acquiring) != nil { return }
        if let refusal = PKCS11Error.proxy(path) { throw refusal }
        let library = try Self.checkedLibrary(at: path)
        // p11-kit has a handle of its own then.
        defer { if let library { dlclose(library) } }
        guard let functions = p11_kit_module_load(path, 0) else { throw .unloadable(path) }
        let answer = Self.initialize(functions, arguments)
        guard answer == .ok else {
            p11_kit_module_release(functions)
            throw .uninitialized(path, answer)
        }
        functionList.store(functions, ordering: .releasing)
        initialisations.add(1, ordering: .acquiringAndReleasing)
    }

    /// `C_Initialize` through p11-kit's wrapper, which asks the library to lock for itself (CKF_OS_LOCKING_OK): SoftHSM
    /// locks nothing unless it is asked to.
    private static func initialize(
        _ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>, _ arguments: InitializationArguments?
    ) -> ReturnValue {
        guard let arguments else { return ReturnValue(rawValue: p11_kit_module_initialize(functions)) }
        return ReturnValue(rawValue: arguments.with { functions.pointee.C_Initialize($0) })
    }

    /// One call, or a few that belong together, while nobody re-initialises the module.
    ///
    /// - Parameter generation: of the session or handle; a module that was re-initialised since then does not know it.
    @inline(__always)
    func call<Result>(
        _ function: CryptokiFunction, of generation: Int? = nil,
        _ body: (UnsafeMutablePointer<CK_FUNCTION_LIST>) throws(PKCS11Error) -> Result
    ) throws(PKCS11Error) -> Result {
        try gate.pass { () throws(PKCS11Error) in
            guard let functions = functionList.load(ordering: .acquiring),
                generation == nil || generation == initialisations.load(ordering: .acquiring)
            else { throw PKCS11Error(function, .cryptokiNotInitialized) }
            return try body(functions)
        }
    }
}
