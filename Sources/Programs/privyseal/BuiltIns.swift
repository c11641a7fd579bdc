import AdvancedCommerce
import AuditKit
import IntroductoryOfferEligibility
import LegacyPromotionalOffer
import P8
import PKCS11Token
import PromotionalOffer
import SQLiteAuditStore
import Signing
import SigningKit

/// All plugins of this program. To add one, add a line; docs/plugin-guide.md lists the other steps.
enum BuiltIns {
    static let keyBackends: [any KeyBackend.Type] = [
        P8Backend.self,
        PKCS11TokenBackend.self,
    ]

    static let auditStore: any AuditStore.Type = SQLiteAuditStore.self

    /// - Parameter settings: the values of all features' settings.
    static func features(_ settings: PluginSettings = PluginSettings(defaultsOf: [])) -> [ServedFeature] {
        [
            ServedFeature(LegacyPromotionalOffer()),
            ServedFeature(PromotionalOffer()),
            ServedFeature(IntroductoryOfferEligibility()),
            ServedFeature(AdvancedCommerce(settings)),
        ]
    }
}
