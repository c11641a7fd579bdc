import SigningGateway
import SigningKit

/// The backend in which keys are created and destroyed, named by a key's URI.
struct ProvisioningTarget {
    let uri: KeyURI
    let address: KeyAddress
    private let backend: any KeyProvisioning.Type
    private let settings: KeyBackendSettings

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
