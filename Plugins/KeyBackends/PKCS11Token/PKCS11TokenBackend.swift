public import SigningKit

/// Keys on a PKCS #11 token. The private key never enters this process. The caller must close the backend: its threads
/// keep it alive until then.
public struct PKCS11TokenBackend: KeyBackend {
    public static let scheme = "pkcs11"
    public static var settings: [PluginSetting] { TokenSettings.declared }

    let token: ActiveToken

    public static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        try TokenAddress.address(of: uri)
    }

    /// Opens the module, finds the token, logs in once and opens the sessions, on a thread of the backend.
    ///
    /// - Throws: `notFound`, `ambiguous`, `secretUnavailable`, `loginRefused`, `unfit` or `unavailable`.
    public static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> PKCS11TokenBackend {
        PKCS11TokenBackend(token: try await ActiveToken.open(locator, in: environment))
    }

    public func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey {
        try await token.key(selector)
    }

    public func health() async -> KeyBackendHealth {
        token.pool.health
    }

    public func report() async -> KeyBackendReport {
        token.report
    }

    public func close() async {
        await token.close()
    }
}

extension PKCS11TokenBackend: CustomStringConvertible, CustomReflectable {
    public var description: String { "PKCS11TokenBackend" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
