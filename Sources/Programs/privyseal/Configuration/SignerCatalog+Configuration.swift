import Foundation
import GatewayConfiguration
import SignerClient
import Signing
import SigningKit

extension SignerCatalog {
    /// - Parameters:
    ///   - configuration: nil for a command without one.
    ///   - logins: of a serving gateway; nil for a command.
    init(_ configuration: GatewayConfiguration?, logins: (any LoginHistory)? = nil) {
        let secrets = FileSecretSource()
        let locations = configuration?.keyLocations ?? []
        var files: [KeyLocator: [String]] = [:]
        for location in locations {
            let locator = location.address.locator
            let type = BuiltIns.keyBackend(for: location.uri)
            files[locator] = type?.secretSources(of: locator).compactMap { try? secrets.path(of: $0) }
        }
        self.init(
            configuration?.signers ?? [], gatewayFiles: configuration?.privateFiles ?? [], secretFiles: files,
            logins: logins ?? CommandLogins(configuration) ?? LoginHistoryFile(configuration))
    }
}

extension LoginHistoryFile {
    /// The directory of an audit log is not made here: a mistyped one, or a disk that is not mounted, must be noticed.
    convenience init(_ configuration: GatewayConfiguration?) {
        self.init(
            directory: Self.stateDirectory(configuration), makesDirectory: configuration?.audit?.localPath == nil)
    }

    /// Of the audit log, of systemd's unit (systemd.exec(5)), of root, or of the user (XDG base directories).
    private static func stateDirectory(_ configuration: GatewayConfiguration?) -> String {
        let environment = ProcessInfo.processInfo.environment
        if let path = configuration?.audit?.localPath {
            return URL(filePath: path).deletingLastPathComponent().path
        }
        if let directory = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(directory) }
        if geteuid() == 0 { return "/var/lib/privyseal" }
        return (environment["XDG_STATE_HOME"] ?? NSHomeDirectory() + "/.local/state") + "/privyseal"
    }
}

extension GatewayConfiguration {
    /// The files that no signer may read: the audit log with its key, and the keys of the listeners.
    fileprivate var privateFiles: [String] {
        var files = listeners.compactMap(\.tls?.key.path)
        guard let audit else { return files }
        files += audit.databaseFiles + [audit.key.path, audit.checkpoints.file.path]
        files += audit.database.keyFiles
        if let source = audit.passwordSource, let path = try? FileSecretSource().path(of: source) { files.append(path) }
        if let token = audit.checkpoints.tokenFile { files.append(token.path) }
        return files
    }

    /// What a backend needs to open the location of a key.
    func environment(of location: KeyLocation) -> KeyBackendEnvironment {
        guard let type = BuiltIns.keyBackend(for: location.uri) else {
            return KeyBackendEnvironment(settings: PluginSettings(defaultsOf: []), secrets: FileSecretSource())
        }
        return environment(of: type, location.address.locator)
    }

    func environment(of type: any KeyBackend.Type, _ locator: KeyLocator) -> KeyBackendEnvironment {
        let signers = SignerCatalog(self)
        return KeyBackendEnvironment(
            settings: backends[type.scheme] ?? PluginSettings(defaultsOf: type.settings), secrets: FileSecretSource(),
            signer: signers.settings(of: locator, in: type), logins: signers.logins)
    }
}
