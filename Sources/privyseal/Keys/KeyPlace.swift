import SigningGateway
import SigningKit

/// A place in which keys are made and destroyed, named by the URI of one of them.
struct KeyPlace {
    let uri: KeyURI
    let address: KeyAddress
    private let backend: any KeyProvisioning.Type

    /// - Parameter keyID: becomes the key's label where the URI gives none.
    init(_ text: String, keyID: String? = nil) throws {
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
    }

    func workshop() async throws -> any KeyWorkshop {
        try await backend.workshop(at: address.locator, in: Self.environment(backend))
    }

    /// Opens the key as the gateway does.
    func withKey<Answer>(_ body: (any SigningKey) async throws -> Answer) async throws -> Answer {
        let opened: any KeyBackend = try await backend.open(address.locator, in: Self.environment(backend))
        do {
            let answer = try await body(try await opened.key(address.selector))
            await opened.close()
            return answer
        } catch {
            await opened.close()
            throw error
        }
    }

    static func environment(_ backend: any KeyBackend.Type) -> KeyBackendEnvironment {
        KeyBackendEnvironment(
            settings: KeyBackendSettings(defaultsOf: backend.settings), secrets: GatewayGeneration.secrets)
    }
}
