import CLibCrypto
import Crypto
import Dispatch
import Encodings
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

    public static func signerName(of locator: KeyLocator) -> String { "files" }

    public static func secretSources(of locator: KeyLocator) -> [String] {
        guard let location = try? P8Location(locator.uri) else { return [] }
        return ["file:" + location.path] + [location.passphraseSource].compactMap(\.self)
    }

    public static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        _ = try P8Location(uri)
        // A file holds one key, so the URI of the file also selects the key.
        return KeyAddress(locator: KeyLocator(uri), selector: KeySelector(uri))
    }

    public static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> P8Backend {
        let file = try file(locator, environment)
        // Decryption takes as long as the file's key derivation demands, so it must not block the cooperative pool.
        let key = try await DispatchQueue.global().call { () throws(KeyError) in try P8Key(file.key()) }
        return P8Backend(key: key, path: file.path)
    }

    private static func file(
        _ locator: KeyLocator, _ environment: KeyBackendEnvironment
    ) throws(KeyError) -> KeyFile {
        let location = try P8Location(locator.uri)
        return KeyFile(
            path: location.path, allowsSharing: environment.settings.boolean("allowSharedFiles"),
            passphraseSource: location.passphraseSource, secrets: environment.secrets)
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
        KeyBackendReport(health: await health(), name: path.split(separator: "/").last.map(String.init) ?? path)
    }

    public func close() async { await key.close() }
}

/// Reads a key for its import into a token, in the same way as for signing.
extension P8Backend: KeyMaterialReading {
    public static func material(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> KeyMaterial {
        let file = try file(locator, environment)
        return try await DispatchQueue.global().call { () throws(KeyError) in try material(file.key(), locator) }
    }

    /// Encodes the key again, so that every token gets the same form.
    private static func material(_ key: LibCryptoKey, _ source: KeyLocator) throws(KeyError) -> KeyMaterial {
        guard let info = EVP_PKEY2PKCS8(key.pkey) else { throw .failed("libcrypto could not encode the key.") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let der = SecureBytes.encode(info) else {
            throw .unavailable("There is no room on libcrypto's secure heap for the key.")
        }
        guard let publicKey = try? P256.Signing.PublicKey(x963Representation: key.point) else {
            throw .unfit("The key's public point is not on P-256.")
        }
        return KeyMaterial(pkcs8: Secret(der.bytes), publicKey: publicKey, source: source)
    }
}

/// `file:/path?passphrase-source=file:/path`; also `file:///path` (RFC 8089 §2).
struct P8Location {
    /// Absolute.
    let path: String
    /// A reference for `SecretSource`, or nil.
    let passphraseSource: String?

    init(_ uri: KeyURI) throws(KeyError) {
        var path = uri.path
        if path.hasPrefix("//") {
            path = path.dropFirst(2)
            if path.hasPrefix("localhost/") { path = path.dropFirst("localhost".count) }
        }
        guard path.hasPrefix("/") else {
            throw .invalidURI("it must name an absolute path on this machine, as in file:/etc/privyseal/AuthKey.p8")
        }
        self.path = try Self.decode(path)
        passphraseSource = try Self.passphraseSource(uri)
    }

    private static func passphraseSource(_ uri: KeyURI) throws(KeyError) -> String? {
        var source: String?
        for attribute in uri.query {
            let name = attribute.prefix { $0 != "=" }
            guard name == "passphrase-source" else {
                throw .invalidURI("it has an unknown attribute; a file: URI has passphrase-source only")
            }
            guard source == nil else { throw .invalidURI("it has passphrase-source twice; keep one of them") }
            let reference = try decode(attribute.dropFirst(name.count + 1))
            guard reference.hasPrefix("file:/") || reference.hasPrefix("credential:") else {
                throw .invalidURI(
                    "passphrase-source must be file:/absolute/path or credential:NAME; commands are not run")
            }
            source = reference
        }
        return source
    }

    private static func decode(_ text: Substring) throws(KeyError) -> String {
        guard let decoded = PercentEncoding.decode(text.utf8), !decoded.utf8.contains(0), !decoded.isEmpty else {
            throw .invalidURI("one of its paths is empty, not UTF-8 or not percent-encoded (write % itself as %25)")
        }
        return decoded
    }
}
