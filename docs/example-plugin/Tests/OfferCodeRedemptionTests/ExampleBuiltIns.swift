import AdvancedCommerce
import IntroductoryOfferEligibility
import LegacyPromotionalOffer
import OfferCodeRedemption
import PromotionalOffer
import Signing

/// The features of PrivySeal, as in its `BuiltIns.swift`, and one more. To add a feature, add a line.
enum ExampleBuiltIns {
    static let features = [
        ServedFeature(LegacyPromotionalOffer()),
        ServedFeature(PromotionalOffer()),
        ServedFeature(IntroductoryOfferEligibility()),
        ServedFeature(AdvancedCommerce()),
        ServedFeature(OfferCodeRedemption()),
    ]
}
