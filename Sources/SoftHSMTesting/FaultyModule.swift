public import Foundation
internal import Glibc

/// The module that forwards to SoftHSM and misbehaves by a script: see `FaultyPKCS11.h` for its rules.
///
/// It forwards to a copy of SoftHSM's library, so that it is apart from the SoftHSM of other tests in the process. One
/// test at a time: use it in suites with the trait `.softHSM`.
public struct FaultyModule: Sendable {
    public static let shared = Result { try FaultyModule(SoftHSM.shared.get()) }

    public let path: String
    private let rules: URL
    private let calls: URL

    private init(_ hsm: SoftHSM) throws {
        // Built beside the tests.
        let product = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        path = URL(filePath: product).deletingLastPathComponent().appending(path: "libFaultyPKCS11.so").path
        guard FileManager.default.fileExists(atPath: path) else {
            throw SoftHSMError("\(path) is missing: build the product FaultyPKCS11")
        }
        let copy = hsm.directory.appending(path: "libsofthsm2-behind-faulty.so")
        let library = URL(filePath: hsm.modulePath).resolvingSymlinksInPath()
        try FileManager.default.copyItem(at: library, to: copy)
        rules = hsm.directory.appending(path: "faulty.rules")
        calls = hsm.directory.appending(path: "faulty.calls")
        setenv("FAULTY_PKCS11_TARGET", copy.path, 1)
        setenv("FAULTY_PKCS11_RULES", rules.path, 1)
        setenv("FAULTY_PKCS11_CALLS", calls.path, 1)
    }

    /// Does what `body` does with nothing wrong at first, and with calls counted from zero.
    public func fresh() throws {
        try? FileManager.default.removeItem(at: calls)
        try follow()
    }

    /// From now on; calls are counted from 1 again for the rules.
    public func follow(_ lines: String...) throws {
        try Data((lines.joined(separator: "\n") + "\n# \(UUID())\n").utf8).write(to: rules, options: .atomic)
    }

    /// How often a function was called since `fresh()`.
    public func count(_ function: String) -> Int {
        guard let text = FileManager.default.contents(atPath: calls.path) else { return 0 }
        return text.split(separator: UInt8(ascii: "\n")).count { $0.elementsEqual(function.utf8) }
    }

    /// The lines about calls since `fresh()`: functions, faults and logins, as `FaultyPKCS11.h` says.
    public var callLines: [String] {
        guard let text = FileManager.default.contents(atPath: calls.path) else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// A file that calls with `hang=` wait for; `letGo` makes it.
    public func barrier() -> Barrier {
        Barrier(file: rules.deletingLastPathComponent().appending(path: "barrier-\(UUID().uuidString)"))
    }

    public struct Barrier: Sendable {
        public let file: URL

        public func letGo() throws {
            try Data().write(to: file)
        }
    }
}
