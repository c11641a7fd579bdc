import CP11Kit
import Glibc

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
