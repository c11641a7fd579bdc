import Crypto
import Foundation
import KeyTransport
import PKCS11
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Synchronization
import Testing

/// A P-256 key as a `.p8` brings it.
func material(_ key: P256.Signing.PrivateKey) -> KeyMaterial {
    KeyMaterial(pkcs8: key.derRepresentation.withUnsafeBytes { Secret($0) }, publicKey: key.publicKey)
}

/// Opens the place of a URI for work, and closes it when `body` is done.
func withWorkshop<Answer>(
    _ uri: String, _ body: (any KeyWorkshop, KeySelector) async throws -> Answer
) async throws -> Answer {
    let address = try PKCS11TokenBackend.address(of: KeyURI(uri))
    let environment = KeyBackendEnvironment(
        settings: KeyBackendSettings(defaultsOf: PKCS11TokenBackend.settings), secrets: FileSecrets())
    let workshop = try await PKCS11TokenBackend.workshop(at: address.locator, in: environment)
    do {
        let answer = try await body(workshop, address.selector)
        await workshop.close()
        return answer
    } catch {
        await workshop.close()
        throw error
    }
}

@discardableResult
func importKey(
    _ key: IncomingKey, _ uri: String, isResumed: Bool = false, allowsClear: Bool = false
) async throws -> PlacedKey {
    try await withWorkshop(uri) { workshop, selector in
        try await workshop.take(key, as: selector, isResumed: isResumed, allowsClear: allowsClear, tell: { _ in })
    }
}

/// The sentence of the error, or nil when there is none.
func sentence(_ body: () async throws -> Void) async -> String? {
    do {
        try await body()
        return nil
    } catch {
        return "\(error)"
    }
}

extension SoftHSMToken {
    /// How many objects it has, of every class, as its user sees them.
    func objectCount() throws -> Int { try objects([]).count }

    func objects(_ attributes: [Attribute]) throws -> [ObjectHandle] {
        try inspect { session in try session.objects(with: attributes) }
    }

    /// With a session that may write.
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
