public import SigningKit

/// The signers of a configuration: their settings, the files that they must not see, and the logins of earlier processes.
public struct SignerCatalog: Sendable {
    /// By name. A signer without an entry has the default settings.
    private let configured: [String: SignerSettings]
    /// The audit log, its keys and the keys of listeners.
    private let gatewayFiles: [String]
    /// The key files, PIN files and passphrase files of each location.
    private let secretFiles: [KeyLocator: [String]]
    public let logins: (any LoginHistory)?

    public init(
        _ signers: [SignerSettings], gatewayFiles: [String] = [], secretFiles: [KeyLocator: [String]] = [:],
        logins: (any LoginHistory)? = nil
    ) {
        configured = Dictionary(signers.map { ($0.name, $0) }) { $1 }
        self.gatewayFiles = gatewayFiles
        self.secretFiles = secretFiles
        self.logins = logins
    }

    public func settings(of locator: KeyLocator, in type: any KeyBackend.Type) -> SignerSettings {
        let name = type.signerName(of: locator)
        var settings = configured[name] ?? SignerSettings(name: name)
        if type.needsNetwork { settings.network = .any }
        let isOwn = { (other: KeyLocator) in
            type.sharesSigner ? other.uri.scheme == type.scheme : other == locator
        }
        let own = Set(secretFiles.filter { isOwn($0.key) }.flatMap(\.value))
        if !settings.sandbox.paths.isEmpty {
            // A library loads others from its own directory.
            let module = type.modulePath(of: locator)?.split(separator: "/").dropLast().joined(separator: "/")
            settings.sandbox.paths += own.sorted() + [module].compactMap { $0.map { "/" + $0 } }
        }
        // A signer that all its locations share runs no foreign code.
        if !type.sharesSigner {
            let foreign = secretFiles.values.flatMap(\.self)
            settings.hiddenPaths = Set(gatewayFiles + foreign).subtracting(own).sorted()
        }
        return settings
    }

    /// For the import of a key: it reads a key file, which may be one of the configuration.
    public func settingsForImports(to locator: KeyLocator, in type: any KeyBackend.Type) -> SignerSettings {
        var settings = settings(of: locator, in: type)
        if !type.sharesSigner { settings.hiddenPaths = gatewayFiles }
        return settings
    }
}
