import CP11Kit
import Glibc
import Synchronization

extension Module {
    /// All modules that were ever opened, by resolved path. The configuration limits their number.
    private static let registry = Mutex<[String: Module]>([:])

    /// Blocks: a library may search for its devices. The path must be absolute; `arguments` are for `C_Initialize`.
    public static func open(path: String, arguments: String? = nil) throws(PKCS11Error) -> Module {
        let resolved = try resolve(path)
        let module = registry.withLock { modules in
            if let module = modules[resolved] { return module }
            let module = Module(path: resolved)
            modules[resolved] = module
            return module
        }
        try module.addUser(arguments)
        return module
    }

    /// Opens a library by its name (RFC 7512 §2.3): first by p11-kit's module file of that name in `directories`, then
    /// as a file in p11-kit's module directory, with or without `lib` and `.so`.
    ///
    /// - Parameter arguments: replaces the argument in the module file.
    public static func open(
        name: String, arguments: String? = nil, directories: [String] = P11KitModuleFile.directories
    ) throws(PKCS11Error) -> Module {
        guard !name.isEmpty, !name.contains("/") else {
            throw PKCS11Error(.loadModule, .argumentsBad, detail: "a module's name holds no slash")
        }
        if name.hasPrefix("p11-kit-proxy") { throw .unloadable(name) }
        if let file = try P11KitModuleFile.find(name, in: directories) {
            let arguments = arguments ?? file.arguments
            if file.module.hasPrefix("/") { return try open(path: file.module, arguments: arguments) }
            guard let path = try pathInModuleDirectory(file.module) else { throw .unloadable(file.module) }
            return try open(path: path, arguments: arguments)
        }
        for file in name.hasSuffix(".so") ? [name] : ["\(name).so", "lib\(name).so", name] {
            if let path = try pathInModuleDirectory(file) { return try open(path: path, arguments: arguments) }
        }
        throw .unknownModule(name, directories)
    }

    /// p11-kit resolves a relative name in its own directory (P11_MODULE_PATH), which it does not publish. In a usual
    /// directory the file is found without p11-kit, so that `open(path:)` checks it before p11-kit loads it.
    private static func pathInModuleDirectory(_ file: String) throws(PKCS11Error) -> String? {
        for directory in moduleDirectories where access("\(directory)/\(file)", F_OK) == 0 {
            return "\(directory)/\(file)"
        }
        guard let functions = p11_kit_module_load(file, 0) else { return nil }
        defer { p11_kit_module_release(functions) }
        guard let text = p11_kit_module_get_filename(functions) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// p11-kit's module directories in distributions: Debian and Ubuntu, Fedora, Arch and Alpine.
    private static let moduleDirectories = [
        "/usr/lib/\(machine)-linux-gnu/pkcs11", "/usr/lib64/pkcs11", "/usr/lib/pkcs11",
    ]

    private static var machine: String {
        #if arch(arm64)
            "aarch64"
        #else
            "x86_64"
        #endif
    }

    private static func resolve(_ path: String) throws(PKCS11Error) -> String {
        guard let resolved = realpath(path, nil) else {
            throw PKCS11Error(
                .loadModule, .argumentsBad, detail: "there is no module at \(path): \(String(cString: strerror(errno)))"
            )
        }
        defer { free(resolved) }
        // dlopen(3) of a FIFO waits for a writer, and holds a lock of the dynamic linker that every new thread needs.
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PKCS11Error(
                .loadModule, .argumentsBad,
                detail: "the module \(path) is not a regular file. Name the library's file with module-path")
        }
        return String(cString: resolved)
    }

    // MARK: Check

    /// Loads the library and checks its function list before p11-kit does. p11-kit crashes if the list is NULL, and its
    /// managed module if a function that p11-kit calls by itself is NULL.
    ///
    /// - Returns: a handle for `dlclose`; nil for a library that p11-kit cannot load either, for a reason that it
    ///   reports.
    static func checkedLibrary(at path: String) throws(PKCS11Error) -> UnsafeMutableRawPointer? {
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { return nil }
        do throws(PKCS11Error) { try checkFunctionList(of: library, path) } catch {
            dlclose(library)
            throw error
        }
        return library
    }

    private static func checkFunctionList(
        of library: UnsafeMutableRawPointer, _ path: String
    ) throws(PKCS11Error) {
        guard let symbol = dlsym(library, "C_GetFunctionList") else { return }
        let getFunctionList = unsafeBitCast(
            symbol, to: (@convention(c) (UnsafeMutablePointer<CK_FUNCTION_LIST_PTR?>?) -> CK_RV).self)
        var list: CK_FUNCTION_LIST_PTR?
        let answer = ReturnValue(rawValue: getFunctionList(&list))
        guard answer == .ok, let functions = list?.pointee else { throw .withoutFunctionList(path, answer) }
        _ = try ModuleOutput.function(.initialize, functions.C_Initialize)
        _ = try ModuleOutput.function(.finalize, functions.C_Finalize)
        _ = try ModuleOutput.function(.openSession, functions.C_OpenSession)
        _ = try ModuleOutput.function(.closeSession, functions.C_CloseSession)
    }
}

/// A configuration file that registers a module with p11-kit (pkcs11.conf(5)), such as `softhsm2.module`.
public struct P11KitModuleFile: Sendable {
    /// An absolute path, or a name in p11-kit's module directory.
    let module: String
    /// The argument for `C_Initialize`.
    let arguments: String?

    /// p11-kit's directories, without the user's own. A value in an earlier directory wins.
    public static let directories = ["/etc/pkcs11/modules", "/usr/share/p11-kit/modules"]
    /// In bytes. A typical file has about a hundred.
    private static let maximumSize = 16 << 10

    /// - Returns: nil when no directory has a file for this name.
    static func find(_ name: String, in directories: [String]) throws(PKCS11Error) -> P11KitModuleFile? {
        var values: [String: String] = [:]
        var paths: [String] = []
        for directory in directories {
            let path = "\(directory)/\(name).module"
            guard let found = try read(path) else { continue }
            paths.append(path)
            values.merge(found) { earlier, _ in earlier }
        }
        guard let path = paths.first else { return nil }
        guard let module = values["module"], !module.isEmpty else {
            throw .damagedModuleFile(
                path, values["remote"] == nil ? "it names no module" : "it runs a command (remote)")
        }
        let arguments = values["x-init-reserved"].flatMap { $0.isEmpty ? nil : $0 }
        return P11KitModuleFile(module: module, arguments: arguments)
    }

    /// Reads lines such as `module: libsofthsm2.so`. Lines that begin with # are comments.
    private static func read(_ path: String) throws(PKCS11Error) -> [String: String]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .damagedModuleFile(path, String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximumSize + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .damagedModuleFile(path, String(cString: strerror(errno))) }
        guard count <= maximumSize else { throw .damagedModuleFile(path, "it is longer than \(maximumSize) bytes") }
        var values: [String: String] = [:]
        for line in String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            guard !line.hasPrefix("#"), let colon = line.firstIndex(of: ":") else { continue }
            values[trimmed(line[..<colon])] = trimmed(line[line.index(after: colon)...])
        }
        return values
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}

/// Why a module cannot be opened, with the remedy.
extension PKCS11Error {
    /// Call this right after `p11_kit_module_load` has failed, on the same thread.
    static func unloadable(_ path: String) -> PKCS11Error {
        let message = p11_kit_message().map { String(cString: $0) } ?? "it is not a PKCS #11 module"
        if let proxy = proxy(path) { return proxy }
        if let file = ELFHeader(path: path), let own = ELFHeader(path: "/proc/self/exe"), file != own {
            return load(
                "the module \(path) is for \(file.name), and this process runs on \(own.name). Install the library for "
                    + "\(own.name)")
        }
        return load("the module \(path) cannot be loaded: \(message)")
    }

    /// Nil unless the module is p11-kit's proxy.
    static func proxy(_ path: String) -> PKCS11Error? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("p11-kit-proxy") || name.hasPrefix("libp11-kit.so") else { return nil }
        return load(
            "the module \(path) is p11-kit's proxy for all modules of the system, and p11-kit does not load it as "
                + "one module. Name the module of the token: p11-kit list-modules shows the names for "
                + "module-name and the files for module-path")
    }

    /// - Parameter answer: the return value of `C_GetFunctionList`; `CKR_OK` if only the list is NULL.
    static func withoutFunctionList(_ path: String, _ answer: ReturnValue) -> PKCS11Error {
        let list = answer == .ok ? "CKR_OK, and its function list is NULL" : "\(answer)"
        return load(
            "the module \(path) gives no function list (C_GetFunctionList answered \(list)). Test it with its vendor's "
                + "tool, or install another version of it")
    }

    static func unknownModule(_ name: String, _ directories: [String]) -> PKCS11Error {
        let message = p11_kit_message().map { " (\(String(cString: $0)))" } ?? ""
        return load(
            "no module has the name \(name): \(directories.joined(separator: " and ")) contain no file \(name).module, "
                + "and p11-kit's module directory contains no \(name).so and no lib\(name).so\(message). See p11-kit "
                + "list-modules, or give the file with module-path")
    }

    static func damagedModuleFile(_ path: String, _ reason: String) -> PKCS11Error {
        load("p11-kit's module file \(path) cannot be used: \(reason). Give the library with module-path")
    }

    static func differentArguments(_ path: String) -> PKCS11Error {
        PKCS11Error(
            .initialize, .argumentsBad,
            detail:
                "the module \(path) is in use with other init-args, and it has one state for the whole process. Give "
                + "all keys of the module the same init-args")
    }

    static func uninitialized(_ path: String, _ answer: ReturnValue) -> PKCS11Error {
        let detail: String? =
            switch answer {
            case .cantLock:
                "the module \(path) cannot be used by several threads (C_Initialize answered \(answer)), and the gateway "
                    + "has several. Use a build of the library that locks with the system's threads (CKF_OS_LOCKING_OK)"
            case .argumentsBad:
                "the module \(path) does not start with these arguments (C_Initialize answered \(answer)). Give the ones "
                    + "that its manual names with init-args=… in the key's URI; NSS needs configdir='…'"
            default: nil
            }
        return PKCS11Error(.initialize, answer, detail: detail)
    }

    private static func load(_ detail: String) -> PKCS11Error {
        PKCS11Error(.loadModule, .generalError, detail: detail)
    }
}

/// The machine for which a library was built (the first bytes of `Elf64_Ehdr`).
private struct ELFHeader: Equatable {
    /// `EI_CLASS`: 1 for 32 bits, 2 for 64.
    private let bits: UInt8
    /// `e_machine`.
    private let machine: UInt16

    /// Nil if the file is not an ELF file or cannot be read.
    init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 20)
        guard read(descriptor, &bytes, bytes.count) == bytes.count, bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            return nil
        }
        bits = bytes[4]
        machine = UInt16(bytes[18]) | UInt16(bytes[19]) << 8
    }

    var name: String {
        switch (machine, bits) {
        case (0x3E, 2): "x86-64"
        case (0x03, _): "x86 with 32 bits"
        case (0xB7, _): "aarch64"
        case (0x28, _): "arm with 32 bits"
        case (0xF3, _): "riscv"
        case (0x15, _): "ppc64"
        case (0x16, _): "s390x"
        default: "another machine (e_machine \(machine))"
        }
    }
}
