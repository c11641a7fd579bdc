public import SigningKit
import StrictJSON

/// A feature that the gateway serves, whatever its input and output are.
public struct ServedFeature: Sendable {
    public let descriptor: FeatureDescriptor
    let answer: @Sendable (Dispatcher, JSONValue, SigningRoute) async throws(GatewayError) -> [UInt8]

    public init<Feature: SigningFeature>(_ feature: Feature) {
        descriptor = Feature.descriptor
        answer = { dispatcher, request, route throws(GatewayError) in
            do throws(GatewayError) {
                let input = try Self.input(of: Feature.self, in: request)
                let output = try await dispatcher.sign(feature, input, along: route)
                route.counters.noteSigned()
                return output.jsonBytes(capacity: 1024)
            } catch {
                route.counters.note(error)
                throw error
            }
        }
    }

    private static func input<Feature: SigningFeature>(
        of feature: Feature.Type, in request: JSONValue
    ) throws(GatewayError) -> Feature.Input {
        do { return try Feature.Input(from: request) } catch { throw .request(.request(error)) }
    }
}
