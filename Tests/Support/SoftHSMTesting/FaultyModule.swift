public import Foundation
import Glibc

/// The FaultyPKCS11 module: it forwards to SoftHSM and injects faults. `FaultyPKCS11.h` describes its rules.
///
/// It forwards to a copy of SoftHSM's library, so it shares no state with the SoftHSM of other tests in the process.
/// Only one test at a time can use it: use it in suites with the trait `.softHSM`.
public struct FaultyModule: Sendable {
    public static let shared = Result { try FaultyModule(SoftHSM.shared.get()) }

    public let path: String
    private let rules: URL
    private let calls: URL

    private init(_ hsm: SoftHSM) throws {
        // The build puts the module next to the test executable.
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

    /// Removes all rules and sets the counts of calls to zero.
    public func fresh() throws {
        try? FileManager.default.removeItem(at: calls)
        try follow()
    }

    /// Replaces all rules; each new rule counts its calls from 1.
    public func follow(_ lines: String...) throws {
        try Data((lines.joined(separator: "\n") + "\n# \(UUID())\n").utf8).write(to: rules, options: .atomic)
    }

    /// The number of calls of a function since `fresh()`.
    public func count(_ function: String) -> Int {
        guard let text = FileManager.default.contents(atPath: calls.path) else { return 0 }
        return text.split(separator: UInt8(ascii: "\n")).count { $0.elementsEqual(function.utf8) }
    }

    /// The lines of the file of calls since `fresh()`: functions, faults and logins (see `FaultyPKCS11.h`).
    public var callLines: [String] {
        guard let text = FileManager.default.contents(atPath: calls.path) else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// A file that calls with `hang=` wait for; `letGo` creates it.
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
