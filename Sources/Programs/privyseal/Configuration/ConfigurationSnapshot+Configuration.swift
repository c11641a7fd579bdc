import Foundation
import GatewayConfiguration
import Signing
import SigningKit

/// Builds a snapshot from a configuration. It opens no keys.
extension ConfigurationSnapshot {
    convenience init(
        _ configuration: GatewayConfiguration, inheriting predecessor: ConfigurationSnapshot? = nil,
        rejected: KeyRing? = nil, audit: SigningAudit? = nil
    ) {
        self.init(
            GatewaySettings(configuration), features: BuiltIns.features(configuration.features),
            backends: BuiltIns.keyBackends, secrets: Self.secrets, inheriting: predecessor, rejected: rejected,
            audit: audit)
    }

    static var secrets: any SecretSource {
        FileSecretSource(credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
    }
}
