public import Foundation
import Glibc
import PKCS11
import Synchronization

/// SoftHSM with its own directory, for one test process. SoftHSM has one state per process, so all tests share it and
/// each test creates its own tokens. The directory is removed when the process exits.
public final class SoftHSM: Sendable {
    /// The path on Debian, Fedora or Homebrew on Linux; the environment variable `SOFTHSM2_MODULE` overrides it.
    public static let modulePath: String? = {
        if let path = ProcessInfo.processInfo.environment["SOFTHSM2_MODULE"] { return path }
        return [
            "/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so",
            "/home/linuxbrew/.linuxbrew/lib/softhsm/libsofthsm2.so",
        ].first { FileManager.default.fileExists(atPath: $0) }
    }()

    public static let shared = Result { try SoftHSM() }

    /// Contains `softhsm2.conf`, `tokens/` and PIN files.
    public let directory: URL
    public var tokens: URL { directory.appending(path: "tokens") }
    public let modulePath: String
    /// Serializes the creation of tokens and keys: concurrent creation fails in SoftHSM 2.6.1 (its issue 573).
    private let maker = Mutex<Void>(())

    private init() throws {
        guard let modulePath = Self.modulePath else { throw SoftHSMError("SoftHSM is not installed (apt: softhsm2)") }
        self.modulePath = modulePath
        directory = FileManager.default.temporaryDirectory.appending(path: "privyseal-softhsm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: tokens, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let configuration = """
            directories.tokendir = \(tokens.path)
            objectstore.backend = file
            log.level = ERROR
            slots.removable = false
            """
        let file = directory.appending(path: "softhsm2.conf")
        try Data(configuration.utf8).write(to: file)
        setenv("SOFTHSM2_CONF", file.path, 1)
        TemporaryDirectories.add(directory)
    }

    /// Creates a token. Its label and PIN are random unless given.
    ///
    /// - Parameter modulePath: the module that creates the token, such as one that forwards to SoftHSM.
    public func makeToken(label: String? = nil, pin: String? = nil, modulePath: String? = nil) throws -> SoftHSMToken {
        let label = label ?? "test-\(UUID().uuidString.prefix(13).lowercased())"
        let pin = pin ?? "pin-\(UInt64.random(in: 0 ... .max))"
        let path = modulePath ?? self.modulePath
        let before = Set(try FileManager.default.contentsOfDirectory(atPath: tokens.path))
        let officerPIN = "officer-\(UInt64.random(in: 0 ... .max))"
        let serial = try provision(path) { module in
            guard let empty = try module.slots().first(where: { try !module.isInitialized($0) }) else {
                throw SoftHSMError("SoftHSM offers no empty slot")
            }
            let known = Set(try module.slots().map { try module.tokenInfo(of: $0).serial })
            try module.initializeToken(in: empty, label: label, officerPIN: Array(officerPIN.utf8))
            let found = try module.slots().map { ($0, try module.tokenInfo(of: $0)) }
            guard let (slot, info) = found.last(where: { $0.1.label == label && !known.contains($0.1.serial) }) else {
                throw SoftHSMError("SoftHSM made no token \(label)")
            }
            let session = try Session(on: slot, of: module, writable: true)
            try session.setPIN(pin, officerPIN: officerPIN)
            return info.serial
        }
        let made = Set(try FileManager.default.contentsOfDirectory(atPath: tokens.path)).subtracting(before)
        guard let name = made.first, made.count == 1 else { throw SoftHSMError("which directory is the token's?") }
        let pinFile = directory.appending(path: "\(name).pin")
        try Data("\(pin)\n".utf8).write(to: pinFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: pinFile.path)
        return SoftHSMToken(
            home: self, label: label, serial: serial, pin: pin, officerPIN: officerPIN, pinFile: pinFile,
            directory: tokens.appending(path: name), modulePath: path)
    }

    /// Removes all tokens, so that the next test starts with none. SoftHSM must be closed.
    public func removeTokens() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: tokens.path) {
            try FileManager.default.removeItem(at: tokens.appending(path: name))
        }
    }

    /// Opens the module and runs `body` while nothing else creates tokens or keys.
    func provision<Result>(_ path: String, _ body: (Module) throws -> Result) throws -> Result {
        try maker.withLock { _ in
            let module = try Module.open(path: path)
            defer { module.close() }
            return try body(module)
        }
    }
}

extension Session {
    /// Logs in as the security officer, sets the user's PIN, and closes the session.
    func setPIN(_ pin: String, officerPIN: String) throws {
        try Array(officerPIN.utf8).withUnsafeBytes { try login(as: .securityOfficer, pin: $0) }
        try initializePIN(Array(pin.utf8))
        try logout()
        try close()
    }
}

extension Module {
    fileprivate func isInitialized(_ slot: SlotID) throws -> Bool {
        try tokenInfo(of: slot).flags.contains(.tokenInitialized)
    }
}

/// The reason why there is no test token.
public struct SoftHSMError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Directories to remove when the process ends.
enum TemporaryDirectories {
    private static let directories = Mutex<[URL]>([])

    static func add(_ directory: URL) {
        let isFirst = directories.withLock { list in
            list.append(directory)
            return list.count == 1
        }
        guard isFirst else { return }
        atexit {
            for directory in TemporaryDirectories.directories.withLock({ $0 }) {
                try? FileManager.default.removeItem(at: directory)
            }
        }
    }
}
