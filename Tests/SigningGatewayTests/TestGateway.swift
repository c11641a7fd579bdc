import Crypto
import Foundation
import PromotionalOffer
import SigningGateway
import SigningKit
import SigningKitTesting

/// A gateway over a fake place with two keys: `active` signs by default, `other` when it is named.
struct TestGateway {
    static let app = "com.example.app"
    static let body = Array(#"{"productId":"p","offerIdentifier":"o"}"#.utf8)

    let place: FakePlace
    let plan: GatewayPlan
    let live: LiveGateway
    let keys: [String: P256.Signing.PrivateKey]

    /// - Parameters:
    ///   - adjust: changes the plan before it is used.
    ///   - isOpen: whether the keys are opened and proved.
    init(
        verification: VerificationMode = .always, grants: GrantIssuer = GrantIssuer(), isOpen: Bool = true,
        adjust: (inout GatewayPlan) -> Void = { _ in }
    ) async throws {
        place = FakePlace(UUID().uuidString)
        keys = ["active": P256.Signing.PrivateKey(), "other": P256.Signing.PrivateKey()]
        var plans: [KeyPlan] = []
        for name in ["active", "other"] {
            let uri = place.add(name, keys[name] ?? P256.Signing.PrivateKey())
            plans.append(KeyPlan(keyID: name.uppercased(), uri: try KeyURI(uri), origin: "here"))
        }
        let account = AccountPlan(
            issuerID: "issuer", apps: [AppPlan(bundleID: Self.app, features: ["promotional-offer"])], keys: plans,
            activeKeyID: "ACTIVE")
        var plan = GatewayPlan(accounts: [account], verification: verification)
        adjust(&plan)
        self.plan = plan
        live = LiveGateway(Self.generation(plan, grants))
        guard isOpen else { return }
        await ring.openMissing()
        await ring.prove()
    }

    static func generation(
        _ plan: GatewayPlan, _ grants: GrantIssuer = GrantIssuer(),
        secrets: any SecretSource = FileSecretSource(credentialsDirectory: nil),
        inheriting predecessor: GatewayGeneration? = nil, rejected: KeyRing? = nil
    ) -> GatewayGeneration {
        GatewayGeneration(
            plan, features: [ServedFeature(PromotionalOffer())], backends: [FakeKeyBackend.self], secrets: secrets,
            grants: grants, inheriting: predecessor, rejected: rejected)
    }

    var ring: KeyRing { live.current.ring }
    var dispatcher: Dispatcher { live.current.dispatcher }
    var active: KeySlot { ring.slots[0] }

    func sign(
        for client: Client = .operator, keyID: String? = nil, body: [UInt8] = Self.body
    ) async throws(GatewayError) -> [UInt8] {
        let route = try dispatcher.route(for: client, app: Self.app, feature: "promotional-offer", keyID: keyID)
        return try await dispatcher.sign(body, along: route)
    }

    func isValid(_ answer: [UInt8], by name: String) throws -> Bool {
        struct Answer: Decodable { let jws: String }
        let jws = try JSONDecoder().decode(Answer.self, from: Data(answer)).jws
        let parts = jws.split(separator: ".")
        let signature = parts[2].replacing("-", with: "+").replacing("_", with: "/") + "=="
        guard let key = keys[name], let raw = Data(base64Encoded: String(signature)) else { return false }
        let input = Data("\(parts[0]).\(parts[1])".utf8)
        return key.publicKey.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: raw), for: input)
    }
}
