import ArgumentParser
import GatewayConfiguration
import Signing
import SigningKit

/// The backend in which keys are created and destroyed, named by a key's URI.
struct ProvisioningTarget {
    let uri: KeyURI
    let selector: KeySelector
    private let locator: KeyLocator
    private let backend: any KeyProvisioning.Type
    private let environment: KeyBackendEnvironment

    /// - Parameters:
    ///   - keyID: the key's name if the URI has none.
    ///   - configuration: of the gateway, if the command has one.
    init(
        _ text: String, keyID: String? = nil, as user: TokenUserOption, _ configuration: GatewayConfiguration? = nil
    ) throws {
        var uri = try KeyURI(text)
        guard let backend = BuiltIns.keyBackend(for: uri) as? any KeyProvisioning.Type else {
            let schemes = BuiltIns.keyBackends.filter { $0 is any KeyProvisioning.Type }.map { "\($0.scheme):" }
            throw KeyError.invalidURI(
                "it names no place on a token. This command works with \(schemes.joined(separator: " and ")) only; the owner "
                    + "of a file makes and deletes it")
        }
        if let keyID { uri = try backend.uri(uri, naming: keyID) }
        let address = try backend.address(of: uri)
        var settings = configuration?.backends[backend.scheme] ?? PluginSettings(defaultsOf: backend.settings)
        if let userType = user.userType { try settings.set("userType", to: .integer(userType)) }
        self.uri = uri
        self.backend = backend
        (locator, selector) = (address.locator, address.selector)
        let signers = SignerCatalog(configuration)
        environment = KeyBackendEnvironment(
            settings: settings, secrets: FileSecretSource(),
            signer: signers.settingsForImports(to: locator, in: backend), logins: signers.logins)
    }

    /// The places of a key: those that the caller names, or else those of the configuration.
    ///
    /// - Parameters:
    ///   - option: the option that names a place, for the error.
    static func all(
        _ named: [String], of keyID: String, option: String, as user: TokenUserOption,
        _ configuration: GatewayConfiguration?
    ) throws -> [ProvisioningTarget] {
        let declared = configuration?.keys.first { $0.keyID == keyID }?.uris ?? []
        let uris = named.isEmpty ? declared.map(\.text) : named
        guard !uris.isEmpty else {
            let source = configuration == nil ? "No configuration was given" : "The configuration names no key \(keyID)"
            let other = configuration == nil ? ", or use --config FILE" : ""
            throw CommandError("\(source). Give the key's URI with \(option) URI\(other).")
        }
        let targets = try uris.map { try ProvisioningTarget($0, keyID: keyID, as: user, configuration) }
        guard Set(targets.map { "\($0.uri)" }).count == targets.count else {
            throw CommandError("A place is named twice. Name each place once with \(option).")
        }
        return targets
    }

    func withSession<Answer>(_ body: (any ProvisioningSession) async throws -> Answer) async throws -> Answer {
        let session = try await backend.provisioningSession(at: locator, in: environment)
        return try await finally(session.close) { try await body(session) }
    }

    /// Opens the key as the gateway does.
    func withKey<Answer>(_ body: (any SigningKey) async throws -> Answer) async throws -> Answer {
        let opened: any KeyBackend = try await backend.open(locator, in: environment)
        return try await finally(opened.close) { try await body(try await opened.key(selector)) }
    }
}

/// The user that logs in to the token for a key command.
struct TokenUserOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The user that logs in (CK_USER_TYPE), in place of the configuration's backends.pkcs11.userType; 1 is CKU_USER.",
            valueName: "number"))
    var userType: Int?
}
