import AWSKMS
import AdvancedCommerce
import AuditKit
import IntroductoryOfferEligibility
import LegacyPromotionalOffer
import P8
import PKCS11Token
import PostgreSQLAuditStore
import PromotionalOffer
import SQLiteAuditStore
import ServiceTokens
import SignerClient
import Signing
import SigningKit

/// All plugins of this program. To add one, add a line; docs/plugin-guide.md lists the other steps.
enum BuiltIns {
    /// What a signer process opens.
    static let hostedBackends: [any KeyBackend.Type] = [
        P8Backend.self,
        PKCS11TokenBackend.self,
        AWSKMSBackend.self,
    ]

    /// What the gateway and the commands open: the same backends, in signer processes.
    static let keyBackends: [any KeyBackend.Type] = hostedBackends.map { inSigner($0) }

    static func keyBackend(for uri: KeyURI) -> (any KeyBackend.Type)? { keyBackends.first { $0.scheme == uri.scheme } }

    private static func inSigner<Backend: KeyBackend>(_ type: Backend.Type) -> any KeyBackend.Type {
        SignerBackend<Backend>.self
    }

    static let profiles: [ServiceProfile] = ServiceProfiles.all

    /// The kinds of token that `verify` knows, besides those of the features.
    static let explainedProfiles: [ServiceProfile] = ServiceProfiles.explained

    static let auditStores: [any AuditStore.Type] = [fileAuditStore, PostgreSQLAuditStore.self]

    /// The store of a location that is a path.
    static let fileAuditStore: any AuditStore.Type = SQLiteAuditStore.self

    /// - Parameter settings: the values of all features' settings.
    static func features(_ settings: PluginSettings = PluginSettings(defaultsOf: [])) -> [ServedFeature] {
        [
            ServedFeature(LegacyPromotionalOffer()),
            ServedFeature(PromotionalOffer()),
            ServedFeature(IntroductoryOfferEligibility()),
            ServedFeature(AdvancedCommerce(settings)),
            ServedFeature(AppStoreServerAPI()),
        ]
    }
}
