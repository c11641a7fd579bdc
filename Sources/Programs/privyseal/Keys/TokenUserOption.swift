import ArgumentParser
import GatewayConfiguration
import SigningKit

/// The user that logs in to the token for a key command.
struct TokenUserOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The user that logs in (CK_USER_TYPE), in place of the configuration's backends.pkcs11.userType; 1 is CKU_USER.",
            valueName: "number"))
    var userType: Int?

    /// - Throws: `ExitCode` 78, after printing an error of the configuration; `KeyError.invalidSetting`.
    func settings(of backend: any KeyBackend.Type, in path: String?) throws -> PluginSettings {
        var settings = PluginSettings(defaultsOf: backend.settings)
        if let path {
            // The command that reads the configuration for other purposes prints its warnings.
            do throws(ConfigurationError) {
                settings = try ConfigurationOption.read(path, mayBePipe: false).backends[backend.scheme] ?? settings
            } catch {
                throw StandardError.failure(error.description, status: 78)
            }
        }
        if let userType { try settings.set("userType", to: .integer(userType)) }
        return settings
    }
}
