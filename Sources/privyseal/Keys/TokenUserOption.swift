import ArgumentParser
import GatewayConfiguration
import SigningKit

/// As which user a command on keys logs in to the token.
struct TokenUserOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The user that logs in (CK_USER_TYPE), in place of the configuration's backends.pkcs11.userType; 1 is CKU_USER.",
            valueName: "number"))
    var userType: Int?

    /// The settings of a backend: those of the configuration, if the command has one.
    ///
    /// - Throws: a status, already said, for a configuration that is wrong; `KeyError.invalidSetting`.
    func settings(of backend: any KeyBackend.Type, in path: String?) throws -> KeyBackendSettings {
        var settings = KeyBackendSettings(defaultsOf: backend.settings)
        if let path {
            // Its warnings are for the command that reads the configuration for more than this.
            do throws(ConfigurationError) {
                settings = try ConfigurationOption.read(path, mayBePipe: false).backends[backend.scheme] ?? settings
            } catch {
                throw StandardError.failure(error.description, status: 78)
            }
        }
        guard let userType else { return settings }
        return try settings.setting("userType", to: .integer(userType), of: backend.settings)
    }
}
