import SigningGateway
import SigningKit

/// A place in which keys are made and destroyed, named by the URI of one of them.
struct KeyPlace {
    let uri: KeyURI
    let address: KeyAddress
    private let backend: any KeyProvisioning.Type
    private let settings: KeyBackendSettings

    /// - Parameters:
    ///   - keyID: becomes the key's label where the URI gives none.
    ///   - configuration: the path of the configuration, if the command has one.
    init(_ text: String, keyID: String? = nil, as user: TokenUserOption, configuration: String? = nil) throws {
        var uri = try KeyURI(text)
        guard let backend = BuiltIns.keyBackends.first(where: { $0.scheme == uri.scheme }) as? any KeyProvisioning.Type
        else {
            throw KeyError.invalidURI("it names no place on a token; keys are brought into pkcs11: places only")
        }
        if let keyID, !uri.path.split(separator: ";").contains(where: { $0.hasPrefix("object=") }) {
            let query = uri.query.joined(separator: "&")
            uri = try KeyURI("\(uri.scheme):\(uri.path);object=\(keyID)" + (query.isEmpty ? "" : "?\(query)"))
        }
        self.uri = uri
        self.backend = backend
        address = try backend.address(of: uri)
        settings = try user.settings(of: backend, in: configuration)
    }

    func workshop() async throws -> any KeyWorkshop {
        try await backend.workshop(at: address.locator, in: environment)
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
        KeyBackendEnvironment(settings: settings, secrets: GatewayGeneration.secrets)
    }
}
