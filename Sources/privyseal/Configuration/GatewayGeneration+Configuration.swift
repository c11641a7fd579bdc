import Foundation
import GatewayConfiguration
import SigningGateway

/// The composition: everything that serves requests, made from a configuration. No key is open yet.
extension GatewayGeneration {
    convenience init(
        _ configuration: GatewayConfiguration, inheriting predecessor: GatewayGeneration? = nil,
        rejected: KeyRing? = nil
    ) {
        self.init(
            GatewayPlan(configuration), features: BuiltIns.features(configuration.validation),
            backends: BuiltIns.keyBackends,
            secrets: FileSecretSource(
                credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]),
            inheriting: predecessor, rejected: rejected)
    }
}
