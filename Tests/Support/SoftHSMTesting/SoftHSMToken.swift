public import Crypto
public import Foundation
import PKCS11

/// A temporary SoftHSM token.
public struct SoftHSMToken: Sendable {
    let home: SoftHSM
    public let label: String
    public let serial: String
    public let pin: String
    let officerPIN: String
    /// Contains the PIN and a newline; mode 0600.
    public let pinFile: URL
    /// The directory in which SoftHSM stores the token.
    public let directory: URL
    public let modulePath: String

    /// The URI of a key on the token, as in a configuration.
    ///
    /// - Parameters:
    ///   - key: attributes of the key, such as `object=2X9R4HXF34`.
    ///   - modulePath: another module, such as one that forwards to SoftHSM.
    public func uri(_ key: String, modulePath: String? = nil, pinFile: URL? = nil) -> String {
        "pkcs11:token=\(label)" + (key.isEmpty ? "" : ";\(key)")
            + "?module-path=\(modulePath ?? self.modulePath)&pin-source=file:\((pinFile ?? self.pinFile).path)"
    }

    /// Creates another PIN file, for example with a wrong PIN.
    public func pinFile(holding text: String) throws -> URL {
        let file = home.directory.appending(path: "\(UUID().uuidString).pin")
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return file
    }

    /// Changes the token's PIN and creates a PIN file for it. No session may be logged in.
    public func changingPIN() throws -> SoftHSMToken {
        let pin = "pin-\(UInt64.random(in: 0 ... .max))"
        try home.provision(modulePath) { module in
            try Session(on: slot(in: module), of: module, writable: true).setPIN(pin, officerPIN: officerPIN)
        }
        return SoftHSMToken(
            home: home, label: label, serial: serial, pin: pin, officerPIN: officerPIN,
            pinFile: try pinFile(holding: "\(pin)\n"), directory: directory, modulePath: modulePath)
    }

    /// Imports a key, as `softhsm2-util --import` does.
    public func importKey(
        _ key: P256.Signing.PrivateKey, label: String, id: [UInt8], _ traits: KeyTraits = KeyTraits()
    ) throws {
        try withSession { session in
            let scalar = Attribute(.value, bytes: Array(key.rawRepresentation))
            _ = try session.createObject(
                [Attribute(.privateKey), Attribute(KeyType.ec), scalar]
                    + [Attribute(.ecParameters, bytes: Curve.p256.parameters)]
                    + traits.privateAttributes(label: label, id: id))
        }
        if traits.hasPublicKey { try importPublicKey(key.publicKey, label: label, id: id, traits) }
    }

    /// Imports a public key.
    public func importPublicKey(
        _ key: P256.Signing.PublicKey, label: String, id: [UInt8], _ traits: KeyTraits = KeyTraits()
    ) throws {
        let point = Array(key.x963Representation)
        try withSession { session in
            _ = try session.createObject(
                [Attribute(.publicKey), Attribute(KeyType.ec)]
                    + [Attribute(.ecPoint, bytes: [0x04, UInt8(point.count)] + point)]
                    + [Attribute(.ecParameters, bytes: Curve.p256.parameters)]
                    + traits.publicAttributes(label: label, id: id))
        }
    }

    /// Imports a PKCS #8 key in PEM, as in a `.p8` file.
    public func importKey(pkcs8 pem: String, label: String, id: [UInt8], _ traits: KeyTraits = KeyTraits()) throws {
        try importKey(P256.Signing.PrivateKey(pemRepresentation: pem), label: label, id: id, traits)
    }

    /// Generates a key pair on the token.
    public func generateKey(
        _ curve: Curve = .p256, label: String, id: [UInt8], _ traits: KeyTraits = KeyTraits()
    ) throws {
        try withSession { session in
            let pair = try session.generateKeyPair(
                .ecKeyPairGeneration,
                publicKey: [Attribute(.ecParameters, bytes: curve.parameters)]
                    + traits.publicAttributes(label: label, id: id),
                privateKey: traits.privateAttributes(label: label, id: id))
            if !traits.hasPublicKey { try session.destroy(pair.publicKey) }
        }
    }

    /// Imports a certificate.
    ///
    /// - Parameter der: the whole certificate; the token does not parse it.
    public func importCertificate(_ der: [UInt8], label: String, id: [UInt8]) throws {
        try withSession { session in
            _ = try session.createObject([
                Attribute(.certificate), Attribute(.certificateType, number: 0), Attribute(.isToken, true),
                Attribute(.isPrivate, false), Attribute(.label, text: label), Attribute(.id, bytes: id),
                Attribute(.subject, bytes: [0x30, 0x00]), Attribute(.value, bytes: der),
            ])
        }
    }

    /// Destroys all objects with this label: the private and the public key.
    public func removeKey(label: String) throws {
        try withSession { session in
            for object in try session.objects(with: [Attribute(.label, text: label)]) { try session.destroy(object) }
        }
    }

    /// Moves the token's directory away, which simulates unplugging the token.
    public func unplug() throws {
        try FileManager.default.moveItem(at: directory, to: away)
    }

    /// Moves the token's directory back.
    public func plug() throws {
        try FileManager.default.moveItem(at: away, to: directory)
    }

    /// Outside of `tokens`, because SoftHSM loads a token from a directory with any name in there.
    private var away: URL { home.directory.appending(path: directory.lastPathComponent) }

    private func withSession(_ body: (Session) throws -> Void) throws {
        try home.provision(modulePath) { module in
            let session = try Session(on: slot(in: module), of: module, writable: true)
            defer { try? session.close() }
            if try !session.isLoggedIn() {
                try Array(pin.utf8).withUnsafeBytes { try session.login(pin: $0) }
            }
            try body(session)
        }
    }

    /// Finds the token's slot, and asks again for up to 2 s if SoftHSM does not list the token: SoftHSM 2.6.1 sometimes
    /// returns `CKR_GENERAL_ERROR`, or leaves out a token, while another thread reloads the token's files.
    private func slot(in module: Module) throws -> SlotID {
        for _ in 0..<Self.attempts {
            do {
                if let slot = try serving(module) { return slot }
            } catch let error as PKCS11Error where error.returnValue == .generalError {}
            usleep(10_000)
        }
        throw SoftHSMError("SoftHSM does not list the token \(label)")
    }

    private static let attempts = 200

    private func serving(_ module: Module) throws -> SlotID? {
        try module.slots().first { try module.tokenInfo(of: $0).serial == serial }
    }
}
