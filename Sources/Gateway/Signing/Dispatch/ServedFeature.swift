public import SigningKit
import StrictJSON

/// A feature that the gateway serves, independent of its input and output types.
public struct ServedFeature: Sendable {
    public let descriptor: FeatureDescriptor
    /// The settings that the feature declares.
    public let settings: [PluginSetting]
    let prepare: @Sendable (JSONValue) throws(GatewayError) -> PreparedRequest

    public init<Feature: SigningFeature>(_ feature: Feature) {
        descriptor = Feature.descriptor
        settings = Feature.settings
        prepare = { value throws(GatewayError) in
            let input: Feature.Input
            do throws(JSONReadError) { input = try Feature.Input(from: value) } catch {
                throw .request(.request(error))
            }
            return PreparedRequest(subject: feature.subject(of: input)) { grant throws(FeatureError) in
                let draft = try feature.compose(input, for: grant)
                return ComposedRequest(signingInput: draft.signingInput) {
                    draft.makeAnswer($0).jsonBytes(capacity: 1024)
                }
            }
        }
    }
}

/// A request that its feature has decoded.
struct PreparedRequest: Sendable {
    let subject: OfferSubject
    let compose: @Sendable (Grant) throws(FeatureError) -> ComposedRequest
}

/// The bytes to sign, and the function that makes the answer in JSON from their signature.
struct ComposedRequest: Sendable {
    let signingInput: [UInt8]
    let answer: @Sendable (P256Signature) -> [UInt8]
}
