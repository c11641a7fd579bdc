import ArgumentParser
import Crypto
import Foundation
import Glibc
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
        /// SoftHSM's directory of the token.
        let directory: String
    }

    /// The paths of SoftHSM's library on Debian, Fedora and others.
    static let modulePaths = [
        "/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so",
        "/usr/local/lib/softhsm/libsofthsm2.so",
    ]

    let directory: String
    let modulePath: String
    /// The value of `SOFTHSM2_CONF`.
    var configurationPath: String { "\(directory)/softhsm2.conf" }
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
        try Data(configuration.utf8).write(to: URL(filePath: configurationPath))
        // SoftHSM reads the variable when the module is opened, in this process and in the gateway's.
        setenv("SOFTHSM2_CONF", configurationPath, 1)
    }

    func uri(_ token: Token, object: String) -> String {
        "pkcs11:token=\(token.label);object=\(object)?module-path=\(modulePath)&pin-source=file:\(token.pinFile)"
    }

    // MARK: Creation

    func makeToken(_ label: String) async throws -> Token {
        let pinFile = "\(directory)/\(label).pin"
        let pin = Self.randomPIN()
        try DurableWrite.create(pinFile, String(decoding: pin, as: UTF8.self) + "\n", mode: 0o600)
        let before = try names()
        try await withModule { module in
            guard
                let slot = try module.slots().first(where: {
                    try !module.tokenInfo(of: $0).flags.contains(.tokenInitialized)
                })
            else { throw DrillError("SoftHSM offers no empty slot.") }
            let officerPIN = Self.randomPIN()
            try module.initializeToken(in: slot, label: label, officerPIN: officerPIN)
            let session = try Session(on: try Self.slot(of: label, module), of: module, writable: true)
            defer { try? session.close() }
            try officerPIN.withUnsafeBytes { try session.login(as: .securityOfficer, pin: $0) }
            try session.initializePIN(pin)
            try session.logout()
        }
        guard let name = try names().subtracting(before).first else {
            throw DrillError("SoftHSM made no token \(label) in \(tokensPath).")
        }
        return Token(label: label, pinFile: pinFile, directory: "\(tokensPath)/\(name)")
    }

    /// Generates a key as `privyseal keys generate` does.
    func makeKey(_ keyID: String, on token: Token) async throws -> TemporaryConfiguration.Key {
        try await withProvisioningSession(token, keyID) { session, selector in
            let made = try await session.generate(as: selector, isResumed: false) { _ in }
            return .init(
                keyID: keyID, uri: uri(token, object: keyID), fingerprint: PublicKeyFingerprint(of: made.publicKey))
        }
    }

    func removeKey(_ keyID: String, from token: Token) async throws {
        try await withProvisioningSession(token, keyID) { session, selector in
            _ = try await session.destroy(selector, expecting: nil, isResumed: false) { _ in }
        }
    }

    /// Replaces the public key under a private key's label, as an incomplete import may leave it.
    func replacePublicKey(_ label: String, with key: P256.Signing.PublicKey, on token: Token) async throws {
        try await withModule { module in
            let session = try Session(on: try Self.slot(of: token.label, module), of: module, writable: true)
            defer { try? session.close() }
            let pin = try Data(contentsOf: URL(filePath: token.pinFile)).dropLast()
            try Array(pin).withUnsafeBytes { try session.login(pin: $0) }
            for object in try session.objects(with: [Attribute(.publicKey), Attribute(.label, text: label)]) {
                let id = try session.value(of: .id, in: object) ?? []
                try session.destroy(object)
                let point = Array(key.x963Representation)
                _ = try session.createObject([
                    Attribute(.publicKey), Attribute(.keyType, number: KeyType.ec.rawValue),
                    // An OCTET STRING around 04 ‖ x ‖ y.
                    Attribute(.ecPoint, bytes: [0x04, UInt8(point.count)] + point),
                    Attribute(.ecParameters, bytes: Self.curve), Attribute(.isToken, true),
                    Attribute(.isPrivate, false), Attribute(.label, text: label), Attribute(.id, bytes: id),
                    Attribute(.verify, true),
                ])
            }
        }
    }

    // MARK: Helpers

    /// prime256v1 as an object identifier in DER (`CKA_EC_PARAMS`, RFC 5480 §2.1.1.1).
    private static let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    private func withProvisioningSession<Result: Sendable>(
        _ token: Token, _ keyID: String, _ body: (any ProvisioningSession, KeySelector) async throws -> Result
    ) async throws -> Result {
        let target = try ProvisioningTarget(uri(token, object: keyID), as: try TokenUserOption.parse([]))
        return try await target.withSession { try await body($0, target.selector) }
    }

    private static func slot(of label: String, _ module: Module) throws -> SlotID {
        guard let slot = try module.slots().first(where: { try module.tokenInfo(of: $0).label == label }) else {
            throw DrillError("The token \(label) is not there.")
        }
        return slot
    }

    /// Opens the module on a thread that may block.
    private func withModule<Result: Sendable>(
        _ body: @escaping @Sendable (Module) throws -> Result
    ) async throws -> Result {
        try await NIOThreadPool.singleton.runIfActive { [modulePath] in
            let module = try Module.open(path: modulePath)
            defer { module.close() }
            return try body(module)
        }
    }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: tokensPath))
    }

    /// Digits, which every token accepts.
    private static func randomPIN() -> [UInt8] { Array("\(UInt64.random(in: 10_000_000 ... .max))".utf8) }
}
