import ArgumentParser
import P8
import PKCS11Token
import SignerClient
import Signing
import SigningKit

/// A key in processes of a signer that runs on its own (`privyseal signer --listen`).
struct SignerKeyOptions: ParsableArguments {
    @Option(help: "The socket of a signer that runs on its own.")
    var signer: String?

    @Option(help: "The number of its processes.")
    var processes = 1

    /// - Parameter sessions: of each process, for a token; nil for the default.
    /// - Returns: the key, and its backend, which the caller must keep and close; nil without a signer.
    func open(_ key: KeyOptions, sessions: Int? = nil) async throws -> (any KeyBackend, any SigningKey)? {
        let uri = try KeyURI(key.key)
        return uri.scheme == PKCS11TokenBackend.scheme
            ? try await open(PKCS11TokenBackend.self, uri, sessions.map { ["sessions": .integer($0)] } ?? [:])
            : try await open(P8Backend.self, uri, [:])
    }

    private func open<Backend: KeyBackend>(
        _ type: Backend.Type, _ uri: KeyURI, _ settings: [String: PluginSettings.Value]
    ) async throws -> (any KeyBackend, any SigningKey)? {
        guard let signer else { return nil }
        var place = SignerSettings(name: "bench")
        (place.socket, place.processes) = (signer, processes)
        let environment = KeyBackendEnvironment(
            settings: try PluginSettings(settings, for: type.settings),
            secrets: FileSecretSource(credentialsDirectory: nil), signer: place)
        let address = try SignerBackend<Backend>.address(of: uri)
        let backend = try await SignerBackend<Backend>.open(address.locator, in: environment)
        return (backend, try await backend.key(address.selector))
    }
}
