package import Crypto
import Foundation
import PromotionalOffer
package import Signing
package import SigningKit
package import SigningKitTesting

/// A gateway over a fake backend with two keys: `active` signs by default, `other` if a request names it.
package struct TestGateway {
    package static let app = "com.example.app"
    package static let body = Array(#"{"productId":"p","offerIdentifier":"o"}"#.utf8)

    package let place: FakeBackendLocation
    package let settings: GatewaySettings
    package let snapshots: SnapshotHolder
    package let keys: [String: P256.Signing.PrivateKey]

    /// - Parameter isOpen: whether to open the keys and prove their possession.
    package init(
        verification: VerificationMode = .always, grants: GrantIssuer = GrantIssuer(), isOpen: Bool = true,
        adjust: (inout GatewaySettings) -> Void = { _ in }
    ) async throws {
        place = FakeBackendLocation(UUID().uuidString)
        keys = ["active": P256.Signing.PrivateKey(), "other": P256.Signing.PrivateKey()]
        var keySettings: [KeySettings] = []
        for name in ["active", "other"] {
            let uri = place.add(name, keys[name] ?? P256.Signing.PrivateKey())
            keySettings.append(KeySettings(keyID: name.uppercased(), uri: try KeyURI(uri), origin: "here"))
        }
        let account = AccountSettings(
            issuerID: "issuer", apps: [AppSettings(bundleID: Self.app, features: ["promotional-offer"])],
            keys: keySettings,
            activeKeyID: "ACTIVE")
        var settings = GatewaySettings(accounts: [account], verification: verification)
        adjust(&settings)
        self.settings = settings
        snapshots = SnapshotHolder(Self.snapshot(settings, grants))
        guard isOpen else { return }
        await ring.openMissing()
        await ring.prove()
    }

    package static func snapshot(
        _ settings: GatewaySettings, _ grants: GrantIssuer = GrantIssuer(),
        secrets: any SecretSource = FileSecretSource(credentialsDirectory: nil),
        inheriting predecessor: ConfigurationSnapshot? = nil, rejected: KeyRing? = nil
    ) -> ConfigurationSnapshot {
        ConfigurationSnapshot(
            settings, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self], secrets: secrets,
            grants: grants, inheriting: predecessor, rejected: rejected)
    }

    package var ring: KeyRing { snapshots.current.ring }
    package var dispatcher: Dispatcher { snapshots.current.dispatcher }
    package var active: KeyHandle { ring.handles[0] }

    package func sign(
        for client: Client = .operator, keyID: String? = nil, body: [UInt8] = Self.body
    ) async throws(GatewayError) -> [UInt8] {
        let route = try dispatcher.resolve(for: client, app: Self.app, feature: "promotional-offer", keyID: keyID)
        return try await dispatcher.sign(body, for: route)
    }

    package func isValid(_ answer: [UInt8], by name: String) throws -> Bool {
        struct Answer: Decodable { let jws: String }
        let jws = try JSONDecoder().decode(Answer.self, from: Data(answer)).jws
        let parts = jws.split(separator: ".")
        let signature = parts[2].replacing("-", with: "+").replacing("_", with: "/") + "=="
        guard let key = keys[name], let raw = Data(base64Encoded: String(signature)) else { return false }
        let input = Data("\(parts[0]).\(parts[1])".utf8)
        return key.publicKey.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: raw), for: input)
    }
}

extension RefusalReason {
    package static let test = RefusalReason(type: "test-reason", status: 418, isCounted: false)
}
