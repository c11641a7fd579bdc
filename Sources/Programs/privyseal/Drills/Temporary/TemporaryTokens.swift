import ArgumentParser
import Crypto
import Foundation
import KeyDrills
import NIOPosix
import PKCS11
import SigningKit

/// SoftHSM tokens of a drill, in a directory of their own. They rehearse the work of people and of the gateway, but do
/// not show how a hardware token behaves.
struct TemporaryTokens: Sendable {
    struct Token: Sendable {
        let label: String
        /// The file of the PIN, readable by its owner only.
        let pinFile: String
        /// The library for the gateway.
        let modulePath: String
    }

    /// The paths of SoftHSM's library on Debian, Fedora and others.
    private static let modulePaths = [
        "/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so",
        "/usr/local/lib/softhsm/libsofthsm2.so",
    ]

    private let directory: String
    private let modulePath: String
    private var tokensPath: String { "\(directory)/tokens" }

    /// - Throws: `DrillError` if SoftHSM is not installed.
    init(in directory: String) throws {
        let named = ProcessInfo.processInfo.environment["SOFTHSM2_MODULE"].map { [$0] } ?? Self.modulePaths
        guard let modulePath = named.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw DrillError(
                "SoftHSM is not installed, and a throw-away token is one of its: install it (apt: softhsm2), or name its "
                    + "library in the variable SOFTHSM2_MODULE.")
        }
        self.directory = directory
        self.modulePath = modulePath
        try FileManager.default.createDirectory(
            atPath: tokensPath, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let configuration = """
            directories.tokendir = \(tokensPath)
            objectstore.backend = file
            log.level = ERROR
            slots.removable = false

            """
        let path = "\(directory)/softhsm2.conf"
        try Data(configuration.utf8).write(to: URL(filePath: path))
        // SoftHSM reads the variable when the module is opened, in this process and in its child processes.
        setenv("SOFTHSM2_CONF", path, 1)
    }

    func uri(_ token: Token, object: String) -> String {
        "pkcs11:token=\(token.label);object=\(object)?module-path=\(token.modulePath)&pin-source=file:\(token.pinFile)"
    }

    // MARK: Creation

    /// - Parameter hasOwnModule: whether the gateway opens the token with a copy of the library. If two tokens of one
    ///   library sign, the recovery of one of them interrupts the other.
    func makeToken(_ label: String, hasOwnModule: Bool = false) async throws -> Token {
        let pinFile = "\(directory)/\(label).pin"
        let pin = Self.randomPIN()
        try DurableWrite.create(pinFile, String(decoding: pin, as: UTF8.self) + "\n", mode: 0o600)
        try await withModule { module in
            let empty = try module.slots().first { try !module.tokenInfo(of: $0).flags.contains(.tokenInitialized) }
            guard let slot = empty else { throw DrillError("SoftHSM offers no empty slot.") }
            let officerPIN = Self.randomPIN()
            try module.initializeToken(in: slot, label: label, officerPIN: officerPIN)
            let session = try Self.session(label, module)
            defer { try? session.close() }
            try officerPIN.withUnsafeBytes { try session.login(as: .securityOfficer, pin: $0) }
            try session.initializePIN(pin)
            try session.logout()
        }
        var path = modulePath
        if hasOwnModule {
            path = "\(directory)/\(label).so"
            // A copy of a relative symbolic link would lead nowhere.
            let library = URL(filePath: modulePath).resolvingSymlinksInPath().path
            try FileManager.default.copyItem(atPath: library, toPath: path)
        }
        return Token(label: label, pinFile: pinFile, modulePath: path)
    }

    /// SoftHSM's directories of tokens.
    func directories() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: tokensPath).map { "\(tokensPath)/\($0)" }
    }

    // MARK: Keys

    /// Generates a key as `privyseal keys generate` does.
    func makeKey(_ keyID: String, on token: Token) async throws -> TemporaryConfiguration.Key {
        let uri = uri(token, object: keyID)
        let target = try ProvisioningTarget(uri, as: try TokenUserOption.parse([]))
        let made = try await repeating { attempt in
            // A failed attempt may have left half of a pair.
            if attempt > 1 { try await removeKey(keyID, from: token) }
            return try await target.withSession { session in
                try await session.generate(as: target.selector, isResumed: false) { _ in }
            }
        }
        return .init(keyID: keyID, uri: uri, fingerprint: PublicKeyFingerprint(of: made.publicKey))
    }

    /// SoftHSM sometimes refuses a call while another process works with the files of the token: `CKR_GENERAL_ERROR` or
    /// `CKR_FUNCTION_FAILED`. That is not what a drill rehearses.
    private func repeating<Value>(_ body: (_ attempt: Int) async throws -> Value) async throws -> Value {
        for attempt in 1..<Self.attempts {
            do { return try await body(attempt) } catch is CancellationError { throw CancellationError() } catch {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        return try await body(Self.attempts)
    }

    private static let attempts = 3

    /// Imports one key into several tokens, as `privyseal keys import` does.
    ///
    /// - Parameter file: the .p8 file.
    func importKey(
        _ keyID: String, from file: String, into tokens: [Token]
    ) async throws -> TemporaryConfiguration.Key {
        let material = try await KeyFileOption.parse([]).material(of: file)
        let uris = tokens.map { uri($0, object: keyID) }
        for uri in uris {
            let target = try ProvisioningTarget(uri, as: try TokenUserOption.parse([]))
            _ = try await target.withSession { session in
                try await session.take(
                    .plain(material), as: target.selector, isResumed: false, allowsClear: false, tell: { _ in })
            }
        }
        return .init(
            keyID: keyID, uri: uris[0], replicas: Array(uris.dropFirst()),
            fingerprint: PublicKeyFingerprint(of: material.publicKey))
    }

    /// Destroys both halves of a pair.
    func removeKey(_ label: String, from token: Token) async throws {
        try await repeating { _ in
            try await withSession(token) { session in
                for object in try session.objects(with: [Attribute(.label, text: label)]) {
                    try session.destroy(object)
                }
            }
        }
    }

    /// Replaces the public key under a private key's label, as an incomplete import may leave it.
    func replacePublicKey(_ label: String, with key: P256.Signing.PublicKey, on token: Token) async throws {
        try await withSession(token) { session in
            for object in try session.objects(with: [Attribute(.publicKey), Attribute(.label, text: label)]) {
                let id = try session.value(of: .id, in: object) ?? []
                try session.destroy(object)
                let point = Array(key.x963Representation)
                _ = try session.createObject([
                    Attribute(.publicKey), Attribute(KeyType.ec),
                    // An OCTET STRING around 04 ‖ x ‖ y.
                    Attribute(.ecPoint, bytes: [0x04, UInt8(point.count)] + point),
                    Attribute(.ecParameters, bytes: Self.curve), Attribute(.isToken, true),
                    Attribute(.isPrivate, false), Attribute(.label, text: label), Attribute(.id, bytes: id),
                    Attribute(.verify, true),
                ])
            }
        }
    }

    /// prime256v1 as an object identifier in DER (`CKA_EC_PARAMS`, RFC 5480 §2.1.1.1).
    private static let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    // MARK: Sessions

    /// Gives the body a session of the token's user.
    private func withSession(_ token: Token, _ body: @escaping @Sendable (Session) throws -> Void) async throws {
        try await withModule { module in
            let session = try Self.session(token.label, module)
            defer { try? session.close() }
            let pin = try Data(contentsOf: URL(filePath: token.pinFile)).dropLast()
            try Array(pin).withUnsafeBytes { try session.login(pin: $0) }
            try body(session)
        }
    }

    private static func session(_ label: String, _ module: Module) throws -> Session {
        guard let slot = try module.slots().first(where: { try module.tokenInfo(of: $0).label == label }) else {
            throw DrillError("The token \(label) is not there.")
        }
        return try Session(on: slot, of: module, writable: true)
    }

    /// Opens the module on a thread that may block.
    private func withModule(_ body: @escaping @Sendable (Module) throws -> Void) async throws {
        try await NIOThreadPool.singleton.runIfActive { [modulePath] in
            let module = try Module.open(path: modulePath)
            defer { module.close() }
            try body(module)
        }
    }

    /// Digits, which every token accepts.
    private static func randomPIN() -> [UInt8] { Array("\(UInt64.random(in: 10_000_000 ... .max))".utf8) }
}
