import Foundation
import GatewayConfiguration
import SigningGateway

/// The composition: everything that serves requests, made from a configuration. No key is open yet.
struct Gateway {
    let ring: KeyRing
    let dispatcher: Dispatcher

    init(_ configuration: GatewayConfiguration) {
        let plan = GatewayPlan(configuration)
        let secrets = FileSecretSource(
            credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
        let features = BuiltIns.features(configuration.validation)
        ring = KeyRing(plan, backends: BuiltIns.keyBackends, secrets: secrets)
        dispatcher = Dispatcher(plan, features: features, ring: ring)
    }
}
