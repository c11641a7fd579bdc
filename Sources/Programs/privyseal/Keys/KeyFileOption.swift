import ArgumentParser
import Foundation
import Signing
import SigningKit

/// How to read a `.p8` file: the source of its passphrase.
struct KeyFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the passphrase of an encrypted .p8 is: file:/path or credential:NAME.", valueName: "source"))
    var passphraseSource: String?

    func material(of path: String) async throws -> KeyMaterial {
        let absolute = URL(filePath: path).standardizedFileURL.path
        var text = "file:\(Self.escape(absolute))"
        if let passphraseSource { text += "?passphrase-source=\(Self.escape(passphraseSource))" }
        let uri = try KeyURI(text)
        guard
            let backend = BuiltIns.keyBackends.first(where: { $0.scheme == uri.scheme }) as? any KeyMaterialReading.Type
        else { throw KeyError.invalidURI("no backend reads key files") }
        let environment = KeyBackendEnvironment(
            settings: PluginSettings(defaultsOf: backend.settings), secrets: ConfigurationSnapshot.secrets)
        return try await backend.material(at: backend.address(of: uri).locator, in: environment)
    }

    private static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
    }

    private static let allowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:")
}
