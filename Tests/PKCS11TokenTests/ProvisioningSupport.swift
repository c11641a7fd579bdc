import Crypto
import Foundation
import KeyTransport
import PKCS11
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Synchronization
import Testing

/// The key in the form that a `.p8` file gives.
func material(_ key: P256.Signing.PrivateKey) -> KeyMaterial {
    KeyMaterial(pkcs8: key.derRepresentation.withUnsafeBytes { Secret($0) }, publicKey: key.publicKey)
}

/// Opens a provisioning session, and closes it after `body`.
func withProvisioningSession<Answer>(
    _ uri: String, _ body: (any ProvisioningSession, KeySelector) async throws -> Answer
) async throws -> Answer {
    let address = try PKCS11TokenBackend.address(of: KeyURI(uri))
    let environment = KeyBackendEnvironment(
        settings: PluginSettings(defaultsOf: PKCS11TokenBackend.settings), secrets: FileSecrets())
    let provisioningSession = try await PKCS11TokenBackend.provisioningSession(at: address.locator, in: environment)
    do {
        let answer = try await body(provisioningSession, address.selector)
        await provisioningSession.close()
        return answer
    } catch {
        await provisioningSession.close()
        throw error
    }
}

@discardableResult
func importKey(
    _ key: IncomingKey, _ uri: String, isResumed: Bool = false, allowsClear: Bool = false
) async throws -> ProvisionedKey {
    try await withProvisioningSession(uri) { provisioningSession, selector in
        try await provisioningSession.take(
            key, as: selector, isResumed: isResumed, allowsClear: allowsClear, tell: { _ in })
    }
}

func sentence(_ body: () async throws -> Void) async -> String? {
    do {
        try await body()
        return nil
    } catch {
        return "\(error)"
    }
}

extension SoftHSMToken {
    /// The number of objects of all classes that the token's user can see.
    func objectCount() throws -> Int { try objects([]).count }

    func objects(_ attributes: [Attribute]) throws -> [ObjectHandle] {
        try inspect { session in try session.objects(with: attributes) }
    }

    /// Runs `body` with a read/write session of the logged-in user.
    func inspect<Answer>(_ body: (Session) throws -> Answer) throws -> Answer {
        let module = try Module.open(path: modulePath)
        defer { module.close() }
        let slot = try #require(try module.slots().first { try module.tokenInfo(of: $0).serial == serial })
        let session = try Session(on: slot, of: module, writable: true)
        defer { try? session.close() }
        if try !session.isLoggedIn() { try Array(pin.utf8).withUnsafeBytes { try session.login(pin: $0) } }
        return try body(session)
    }
}
