import Foundation
import Glibc
import PKCS11
import SoftHSMTesting
import Testing

@Suite("Module names and unusable modules", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct ModuleNameTests {
    private let hsm: SoftHSM
    private let directory: URL

    init() throws {
        hsm = try SoftHSM.shared.get()
        directory = hsm.directory.appending(path: "modules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: directory.appending(path: name))
    }

    private func failure(_ body: () throws -> Module) -> PKCS11Error? {
        do {
            try body().close()
            return nil
        } catch {
            return error as? PKCS11Error
        }
    }

    private func failure(name: String) -> String? {
        failure { try Module.open(name: name, directories: [directory.path]) }?.description
    }

    @Test("module-name=softhsm2 opens SoftHSM where Debian's package puts it")
    func debian() throws {
        let module = try Module.open(name: "softhsm2")
        defer { module.close() }
        #expect(try module.info().manufacturer.contains("SoftHSM"))
    }

    @Test("a p11-kit module file gives the path, and earlier directories take precedence")
    func moduleFile() throws {
        try write("token.module", "# a comment\nmodule: \(hsm.modulePath)\n\ncritical: yes\n")
        let later = hsm.directory.appending(path: "modules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: later, withIntermediateDirectories: true)
        try Data("module: /no/such.so\n".utf8).write(to: later.appending(path: "token.module"))
        let module = try Module.open(name: "token", directories: [directory.path, later.path])
        defer { module.close() }
        #expect(module.path == URL(filePath: hsm.modulePath).resolvingSymlinksInPath().path)
    }

    @Test("an unknown module name is refused with the searched directories")
    func unknownName() {
        let told = failure(name: "nothing")
        #expect(told?.contains("\(directory.path) contain no file nothing.module") == true, "\(told ?? "")")
        #expect(told?.contains("module-path") == true)
    }

    @Test("a module file without a module, with a command or of excessive size is refused")
    func damagedFiles() throws {
        try write("empty.module", "critical: no\n")
        #expect(failure(name: "empty")?.contains("names no module") == true)
        try write("remote.module", "remote: |p11-kit remote /usr/lib/x.so\n")
        #expect(failure(name: "remote")?.contains("runs a command") == true)
        try write("long.module", "module: " + String(repeating: "x", count: 20_000))
        #expect(failure(name: "long")?.contains("longer than") == true)
    }

    @Test("p11-kit's proxy is refused with advice to name a module")
    func proxy() throws {
        let proxy = hsm.directory.appending(path: "p11-kit-proxy-\(UUID().uuidString).so").path
        try FileManager.default.createSymbolicLink(
            atPath: proxy, withDestinationPath: "/usr/lib/\(Self.machine)-linux-gnu/libp11-kit.so.0")
        for told in [failure { try Module.open(path: proxy) }?.description, failure(name: "p11-kit-proxy")] {
            #expect(told?.contains("p11-kit's proxy") == true, "\(told ?? "")")
            #expect(told?.contains("p11-kit list-modules") == true)
        }
    }

    @Test("a library for another machine is refused with both machines' names")
    func otherMachine() throws {
        // e_machine, at byte 18: EM_AARCH64, and EM_S390 where the test itself runs on aarch64.
        var bytes = try Data(contentsOf: URL(filePath: hsm.modulePath))
        bytes[18] = Self.machine == "aarch64" ? 0x16 : 0xB7
        bytes[19] = 0
        let file = directory.appending(path: "foreign.so")
        try bytes.write(to: file)
        let told = failure { try Module.open(path: file.path) }?.description
        #expect(told?.contains("is for \(Self.machine == "aarch64" ? "s390x" : "aarch64")") == true, "\(told ?? "")")
        #expect(told?.contains("Install the library for") == true)
    }

    @Test("a module that is not a regular file is refused before the dynamic linker opens it")
    func fifo() throws {
        let fifo = directory.appending(path: "fifo.so").path
        try #require(mkfifo(fifo, 0o600) == 0)
        // With a writer, dlopen(3) would continue and fail; without a writer, it would wait forever.
        let descriptor = Glibc.open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, "no library", 10) == 10)
        try write("fifo.module", "module: \(fifo)\n")
        for told in [failure { try Module.open(path: fifo) }?.description, failure(name: "fifo")] {
            #expect(told?.contains("is not a regular file") == true, "\(told ?? "")")
        }
    }

    @Test("a module is opened with one set of arguments at a time")
    func arguments() throws {
        // A copy, which shares no state with the SoftHSM of other tests.
        let copy = directory.appending(path: "libsofthsm2-arguments.so").path
        try FileManager.default.copyItem(
            atPath: URL(filePath: hsm.modulePath).resolvingSymlinksInPath().path, toPath: copy)
        let module = try Module.open(path: copy)
        let other = failure { try Module.open(path: copy, arguments: "configdir='/x'") }
        #expect(other?.function == .initialize)
        #expect(other?.description.contains("same init-args") == true)
        module.close()
        // SoftHSM accepts no arguments, as the standard requires.
        let refused = failure { try Module.open(path: copy, arguments: "configdir='/x'") }
        #expect(refused?.returnValue == .argumentsBad)
        #expect(refused?.description.contains("init-args") == true)
        try Module.open(path: copy).close()
    }

    private static var machine: String {
        #if arch(arm64)
            "aarch64"
        #else
            "x86_64"
        #endif
    }
}
