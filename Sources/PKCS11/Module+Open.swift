internal import CP11Kit
internal import Glibc
internal import Synchronization

extension Module {
    /// All modules that were ever opened, by resolved path. There are as many as the configuration names.
    private static let registry = Mutex<[String: Module]>([:])

    /// Blocks: a library may look for its devices.
    ///
    /// - Parameter path: of the library's file, absolute.
    public static func open(path: String) throws(PKCS11Error) -> Module {
        let resolved = try resolve(path)
        let module = registry.withLock { modules in
            if let module = modules[resolved] { return module }
            let module = Module(path: resolved)
            modules[resolved] = module
            return module
        }
        try module.addUser()
        return module
    }

    /// Finds a library in p11-kit's module directory by its name, with or without `lib` and `.so`: `softhsm2` stands
    /// for `libsofthsm2.so` (RFC 7512 §2.3).
    public static func open(name: String) throws(PKCS11Error) -> Module {
        var failure = PKCS11Error(.loadModule, .argumentsBad, detail: "a module's name holds no slash")
        guard !name.contains("/") else { throw failure }
        for file in name.hasSuffix(".so") ? [name] : ["\(name).so", "lib\(name).so", name] {
            // p11-kit looks for a name that is not a path in its own directory, and says where that is.
            guard let functions = p11_kit_module_load(file, 0) else {
                failure = .unloadable(file)
                continue
            }
            defer { p11_kit_module_release(functions) }
            guard let text = p11_kit_module_get_filename(functions) else { continue }
            defer { free(text) }
            return try open(path: String(cString: text))
        }
        throw failure
    }

    private static func resolve(_ path: String) throws(PKCS11Error) -> String {
        guard let resolved = realpath(path, nil) else {
            throw PKCS11Error(
                .loadModule, .argumentsBad, detail: "there is no module at \(path): \(String(cString: strerror(errno)))"
            )
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

extension PKCS11Error {
    /// Right after `p11_kit_module_load` failed, on the same thread.
    static func unloadable(_ file: String) -> PKCS11Error {
        let message = p11_kit_message().map { String(cString: $0) } ?? "it is not a PKCS #11 module"
        return PKCS11Error(.loadModule, .generalError, detail: "the module \(file) cannot be loaded: \(message)")
    }
}
