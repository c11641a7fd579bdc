import CP11Kit
import Glibc
import Synchronization

/// A PKCS #11 library, loaded through p11-kit but without the libraries in the system's configuration. A library has
/// one state per process, so all users of a file share one `Module`. The first user initialises it; after the last user
/// it is finalised (`C_Finalize`) and unloaded.
public final class Module: @unchecked Sendable {
    // All mutable state is atomic or under a lock; a function list is a constant of the library.

    /// The path of the library's file, with symbolic links resolved.
    public let path: String
    let gate = ModuleGate()
    private let functionList = Atomic<UnsafeMutablePointer<CK_FUNCTION_LIST>?>(nil)
    private let initialisations = Atomic<Int>(0)
    private let users = Mutex(Users())
    /// Sessions that nothing uses any more.
    let abandoned = Mutex<[Session]>([])

    private struct Users {
        var count = 0
        /// The first user's argument for `C_Initialize`.
        var arguments: InitializationArguments?
    }

    init(path: String) {
        self.path = path
    }

    var functions: UnsafeMutablePointer<CK_FUNCTION_LIST>? { functionList.load(ordering: .acquiring) }

    /// Grows with each initialisation and finalisation. A session or handle is valid only for one value.
    public var generation: Int { initialisations.load(ordering: .acquiring) }

    /// Adds a user. The first user loads and initialises the library.
    func addUser(_ arguments: String?) throws(PKCS11Error) {
        try users.withLock { users throws(PKCS11Error) in
            if users.count == 0 {
                if users.arguments?.text != arguments {
                    users.arguments = arguments.map { InitializationArguments($0) }
                }
                try load(users.arguments)
            }
            guard users.arguments?.text == arguments else { throw .differentArguments(path) }
            users.count += 1
        }
    }

    /// Call this once for each `open`, after the sessions are closed or abandoned. The last call finalises and unloads
    /// the library. If a call into the library hangs, it stays loaded, because unloading would crash.
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

    /// `C_CloseSession` for the abandoned sessions, with no other call in flight: SoftHSM 2.6.1 crashes if a session is
    /// closed while others sign (its issues 464 and 688).
    ///
    /// - Returns: nil without such sessions; false if calls were still in progress after `milliseconds`. Then nothing is
    ///   closed.
    public func closeAbandoned(within milliseconds: Int) -> Bool? {
        let sessions = abandoned.withLock { abandoned in
            defer { abandoned = [] }
            return abandoned.filter { $0.generation == generation }
        }
        guard !sessions.isEmpty else { return nil }
        let closed: Void? = gate.alone(within: milliseconds) {
            guard let close = functions?.pointee.C_CloseSession else { return }
            for session in sessions where session.generation == generation { _ = close(session.handle) }
        }
        if closed == nil { abandoned.withLock { $0 += sessions } }
        return closed != nil
    }

    /// `C_Finalize` and `C_Initialize`, with no call in flight: the last resort for a library that lost its token.
    ///
    /// - Parameter generation: the value with the failure. If the module has a later one, nothing happens.
    /// - Returns: false if calls were still in progress after `milliseconds`.
    public func reinitialize(after generation: Int, within milliseconds: Int) throws(PKCS11Error) -> Bool {
        let arguments = users.withLock { $0.arguments }
        let done: Void? = try gate.alone(within: milliseconds) { () throws(PKCS11Error) in
            guard initialisations.load(ordering: .acquiring) == generation,
                let functions = functionList.load(ordering: .acquiring)
            else { return }
            // Ignore the return value: only the new initialisation counts.
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
        // p11-kit has its own handle by then.
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

    /// `C_Initialize` by p11-kit's wrapper, which requests locks (CKF_OS_LOCKING_OK): SoftHSM uses none otherwise.
    private static func initialize(
        _ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>, _ arguments: InitializationArguments?
    ) -> ReturnValue {
        guard let arguments else { return ReturnValue(rawValue: p11_kit_module_initialize(functions)) }
        return ReturnValue(rawValue: arguments.with { functions.pointee.C_Initialize($0) })
    }

    /// Makes one call while no thread initialises the module again. An older `generation` is invalid.
    func call<Function>(
        _ name: CryptokiFunction, of generation: Int? = nil, _ function: KeyPath<CK_FUNCTION_LIST, Function?>,
        _ body: (Function) -> CK_RV
    ) throws(PKCS11Error) {
        try call(name, of: generation) { functions throws(PKCS11Error) in
            try check(name, body(try ModuleOutput.function(name, functions.pointee[keyPath: function])))
        }
    }

    /// Runs one or more related calls while no thread initialises the module again. An older `generation` is invalid.
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

/// An argument for `C_Initialize` (`pReserved` of `CK_C_INITIALIZE_ARGS`) that some libraries need, such as NSS.
final class InitializationArguments: Sendable {
    let text: String
    /// Never freed, because a library may keep the pointer.
    private nonisolated(unsafe) let copy: UnsafeMutablePointer<CChar>?

    init(_ text: String) {
        self.text = text
        copy = strdup(text)
    }

    func with(_ body: (UnsafeMutableRawPointer) -> UInt) -> UInt {
        var arguments = CK_C_INITIALIZE_ARGS()
        arguments.flags = CKF_OS_LOCKING_OK
        arguments.pReserved = UnsafeMutableRawPointer(copy)
        return body(&arguments)
    }
}

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
            detail: "the module has no \(function.name) (NULL in its function list); another version of it may")
    }

    private static func excess(_ number: UInt, _ limit: Int, _ function: CryptokiFunction) -> PKCS11Error {
        PKCS11Error(
            function, .generalError,
            detail:
                "\(function.name) answered CKR_OK with the number \(number), where at most \(limit) are possible")
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

/// Allows any number of calls into a module, or one thread that initialises it again. A thread that waits for exclusive
/// access blocks new calls, but only until its deadline: a hung call would block them forever.
final class ModuleGate: @unchecked Sendable {
    // Allocated once; pthread_rwlock_t must not move.
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    init() {
        lock = .allocate(capacity: 1)
        var attributes = pthread_rwlockattr_t()
        pthread_rwlockattr_init(&attributes)
        // Otherwise a steady stream of calls would never allow exclusive access.
        pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        pthread_rwlock_init(lock, &attributes)
        pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// - Note: Calls must not be nested.
    @inline(__always)
    func pass<Result, Failure: Error>(_ call: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try call()
    }

    /// - Returns: nil if calls were still in progress after `milliseconds`; `body` did not run then.
    func alone<Result, Failure: Error>(
        within milliseconds: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        var deadline = timespec()
        // The monotonic clock, because a change of the system time would shorten or prolong the wait.
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += milliseconds / 1000
        deadline.tv_nsec += milliseconds % 1000 * 1_000_000
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        guard pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &deadline) == 0 else { return nil }
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }
}
