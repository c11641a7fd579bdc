import Foundation
import GatewayConfiguration
import SigningGateway
import SigningKit

/// The composition: everything that serves requests, made from a configuration. No key is open yet.
extension GatewayGeneration {
    convenience init(
        _ configuration: GatewayConfiguration, inheriting predecessor: GatewayGeneration? = nil,
        rejected: KeyRing? = nil, audit: AuditLog? = nil
    ) {
        self.init(
            GatewayPlan(configuration), features: BuiltIns.features(configuration.validation),
            backends: BuiltIns.keyBackends, secrets: Self.secrets, inheriting: predecessor, rejected: rejected,
            audit: audit)
    }

    static var secrets: any SecretSource {
        FileSecretSource(credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
    }
}
