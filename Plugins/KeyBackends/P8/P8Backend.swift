import Dispatch
public import SigningKit

/// Keys in files from App Store Connect, one key per file.
public struct P8Backend: KeyBackend {
    public static let scheme = "file"

    public static let settings = [
        PluginSetting(
            "allowSharedFiles", .boolean(default: false),
            "`true` accepts key files that group or others can read, for volumes that cannot set a mode")
    ]

    let key: P8Key
    /// The file's path, without the passphrase source.
    let path: String
    /// The file's name, for messages.
    private let name: String

    public static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        _ = try P8Location(uri)
        // A file holds one key, so the URI of the file also selects the key.
        return KeyAddress(locator: KeyLocator(uri), selector: KeySelector(uri))
    }

    public static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> P8Backend {
        let (reader, file) = try source(locator, environment)
        // Decryption takes as long as the file's key derivation demands, so it must not block the cooperative pool.
        let key = await aside { () throws(KeyError) in try P8Key(reader.key(from: file.read())) }
        let location = try P8Location(locator.uri)
        return P8Backend(key: try key.get(), path: location.path, name: location.name)
    }

    static func source(
        _ locator: KeyLocator, _ environment: KeyBackendEnvironment
    ) throws(KeyError) -> (KeyFileReader, KeyFile) {
        let location = try P8Location(locator.uri)
        let file = KeyFile(path: location.path, allowsSharing: environment.settings.boolean("allowSharedFiles"))
        let passphrase = PassphraseReader(reference: location.passphraseSource, secrets: environment.secrets)
        return (KeyFileReader(path: location.path, passphrase: passphrase), file)
    }

    static func aside<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async -> Result<Value, KeyError> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Result(catching: body)) }
        }
    }

    public func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey {
        guard !key.isClosed else { throw .closed }
        return key
    }

    public func health() async -> KeyBackendHealth {
        if key.isClosed { return .unavailable("The key's backend has been closed.") }
        switch SecureHeap.protection {
        case .locked: return .ready
        case .unlocked:
            return .degraded("The key's memory could not be locked: raise the limit on locked memory (ulimit -l).")
        case .none: return .degraded("The key is not on libcrypto's secure heap: there was no memory for one.")
        }
    }

    public func report() async -> KeyBackendReport {
        KeyBackendReport(health: await health(), name: name)
    }

    public func close() async {
        await key.close()
    }
}
