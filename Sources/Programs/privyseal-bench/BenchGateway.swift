import LegacyPromotionalOffer
import P8
import PKCS11Token
import PromotionalOffer
import Signing
import SigningKit

/// A gateway with one app and one key, composed of only the measured parts.
struct BenchGateway {
    static let bundleID = "com.example.app"

    let live: SnapshotHolder

    /// - Parameter sessions: the size of a token's session pool; 0 for the default.
    init(_ options: KeyOptions, _ verification: VerificationMode, sessions: Int = 0) async throws {
        let uri = try KeyURI(options.key)
        let features = [ServedFeature(LegacyPromotionalOffer()), ServedFeature(PromotionalOffer())]
        let app = AppSettings(bundleID: Self.bundleID, features: features.map(\.descriptor.id))
        let account = AccountSettings(
            issuerID: "57246542-96fe-1a63-e053-0824d011072a", apps: [app],
            keys: [KeySettings(keyID: "2X9R4HXF34", uri: uri)], activeKeyID: "2X9R4HXF34")
        var settings = GatewaySettings(accounts: [account], verification: verification)
        if sessions > 0 {
            settings.backendSettings["pkcs11"] = try PluginSettings(
                ["sessions": .integer(sessions)], for: PKCS11TokenBackend.settings)
        }
        settings.allowsAnonymous = true
        live = SnapshotHolder(
            ConfigurationSnapshot(
                settings, features: features, backends: [P8Backend.self, PKCS11TokenBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil)))
        await ring.openMissing()
        await ring.prove()
        for handle in ring.handles {
            if case .down(let error) = handle.state { throw error }
            if case .refused(let error) = handle.state { throw error }
        }
    }

    var ring: KeyRing { live.current.ring }

    /// Signs `count` requests in the given number of concurrent tasks.
    func contestant(
        _ feature: String, _ body: [UInt8], count: Int, callers: Int = 1
    ) throws -> Stopwatch.Contestant {
        let dispatcher = live.current.dispatcher
        let route = try dispatcher.resolve(for: .operator, app: Self.bundleID, feature: feature)
        let share = max(1, count / callers)
        return {
            try await withThrowingTaskGroup { group in
                for _ in 0..<callers {
                    group.addTask { for _ in 0..<share { _ = try await dispatcher.sign(body, for: route) } }
                }
                try await group.waitForAll()
            }
            return callers * share
        }
    }

    static let legacyBody = Array(
        #"{"productId":"com.example.app.monthly","offerIdentifier":"winback.3months","appAccountToken":"7E3FB204-2F2B-4A05-9A9F-2F5E5C9E5A43"}"#
            .utf8)
    static let jwsBody = Array(
        #"{"productId":"com.example.app.monthly","offerIdentifier":"winback.3months","transactionId":"1000011859217"}"#
            .utf8)
}
