import Foundation
import ProcessSandbox
import SoftHSMTesting

/// A key on a token of FaultyPKCS11, with a rule of its rule language.
struct FaultyLibrary {
    let module: FaultyModule
    /// The attempt that signs with the key.
    let attempt: String
    private let attemptsFile: URL

    init(_ rule: String) throws {
        let token = try SoftHSM.shared.get().makeToken()
        try token.generateKey(label: "key", id: [1])
        module = try FaultyModule.shared.get()
        attempt = "token:\(module.path):\(token.label):\(token.pinFile.path)"
        attemptsFile = token.pinFile.deletingLastPathComponent().appending(path: "attempts-\(UUID().uuidString)")
        try module.fresh()
        try module.follow(rule)
    }

    /// Signs in a new process.
    ///
    /// - Parameter policy: nil for no sandbox.
    func run(_ policy: SandboxPolicy?, onLine: (Int, pid_t) -> Void = { _, _ in }) throws -> ProbeRun {
        try ProbeRun(policy, [attempt], environment: ["FAULTY_PKCS11_ATTEMPTS": attemptsFile.path], onLine: onLine)
    }

    /// The lines of `FAULTY_PKCS11_ATTEMPTS` of all runs.
    var results: [String] {
        guard let text = FileManager.default.contents(atPath: attemptsFile.path) else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
