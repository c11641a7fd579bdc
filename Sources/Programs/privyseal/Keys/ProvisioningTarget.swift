import ArgumentParser
import GatewayConfiguration
import Signing
import SigningKit

/// The backend in which keys are created and destroyed, named by a key's URI.
struct ProvisioningTarget {
    let uri: KeyURI
    let address: KeyAddress
    private let backend: any KeyProvisioning.Type
    private let settings: PluginSettings

    /// - Parameters:
    ///   - keyID: the key's name if the URI has none.
    ///   - configuration: the configuration's path, if the command has one.
    init(_ text: String, keyID: String? = nil, as user: TokenUserOption, configuration: String? = nil) throws {
        var uri = try KeyURI(text)
        guard let backend = BuiltIns.keyBackends.first(where: { $0.scheme == uri.scheme }) as? any KeyProvisioning.Type
        else {
            let schemes = BuiltIns.keyBackends.filter { $0 is any KeyProvisioning.Type }.map { "\($0.scheme):" }
            throw KeyError.invalidURI(
                "it names no place on a token; keys are brought into \(schemes.joined(separator: ", ")) places only")
        }
        if let keyID { uri = try backend.uri(uri, naming: keyID) }
        self.uri = uri
        self.backend = backend
        address = try backend.address(of: uri)
        settings = try user.settings(of: backend, in: configuration)
    }

    func provisioningSession() async throws -> any ProvisioningSession {
        try await backend.provisioningSession(at: address.locator, in: environment)
    }

    /// Opens the key as the gateway does.
    func withKey<Answer>(_ body: (any SigningKey) async throws -> Answer) async throws -> Answer {
        let opened: any KeyBackend = try await backend.open(address.locator, in: environment)
        do {
            let answer = try await body(try await opened.key(address.selector))
            await opened.close()
            return answer
        } catch {
            await opened.close()
            throw error
        }
    }

    private var environment: KeyBackendEnvironment {
        KeyBackendEnvironment(settings: settings, secrets: ConfigurationSnapshot.secrets)
    }
}

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
