public import SigningKit
import StrictJSON

/// An answer's JSON, and what has to be before it may leave.
typealias HeldAnswer = (answer: [UInt8], pending: PendingRelease)

/// A feature that the gateway serves, whatever its input and output are.
public struct ServedFeature: Sendable {
    public let descriptor: FeatureDescriptor
    /// From JSON to JSON that has not left yet.
    let hold: @Sendable (Dispatcher, JSONValue, SigningRoute, BatchItem?) async throws(GatewayError) -> HeldAnswer

    public init<Feature: SigningFeature>(_ feature: Feature) {
        descriptor = Feature.descriptor
        hold = { dispatcher, request, route, item throws(GatewayError) in
            let input = try Self.input(of: Feature.self, in: request)
            let held = try await dispatcher.hold(feature, input, along: route, item: item)
            return (held.answer.jsonBytes(capacity: 1024), held.pending)
        }
    }

    private static func input<Feature: SigningFeature>(
        of feature: Feature.Type, in request: JSONValue
    ) throws(GatewayError) -> Feature.Input {
        do { return try Feature.Input(from: request) } catch { throw .request(.request(error)) }
    }
}
