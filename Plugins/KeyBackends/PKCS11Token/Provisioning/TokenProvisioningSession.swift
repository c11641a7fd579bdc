internal import Crypto
internal import Encodings
internal import PKCS11
public import SigningKit

extension PKCS11TokenBackend: KeyProvisioning {
    /// - Returns: `uri`, with `keyID` as the label if it has none.
    public static func uri(_ uri: KeyURI, naming keyID: String) throws(KeyError) -> KeyURI {
        if uri.path.split(separator: ";").contains(where: { $0.hasPrefix("object=") }) { return uri }
        let query = uri.query.joined(separator: "&")
        return try KeyURI("\(uri.scheme):\(uri.path);object=\(keyID)" + (query.isEmpty ? "" : "?\(query)"))
    }

    public static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession {
        try await TokenProvisioningSession.open(locator, in: environment)
    }
}

/// A provisioning session with a token. Its calls block, so they run on its own thread.
final class TokenProvisioningSession: ProvisioningSession {
    private let token: WritableToken
    private let worker: Worker
    private let watch: Worker

    /// In milliseconds: a smart card needs a minute for an RSA pair.
    private static let timeout = 180_000

    private init(_ token: WritableToken, _ worker: Worker, _ watch: Worker) {
        (self.token, self.worker, self.watch) = (token, worker, watch)
    }

    static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> TokenProvisioningSession {
        try await Worker.performOnNewThread("privyseal-prov", within: timeout, onAbandoned: { $0.token.close() }) {
            worker, watch throws(KeyError) in
            TokenProvisioningSession(try WritableToken(locator, in: environment), worker, watch)
        }
    }

    var location: ProvisioningLocation {
        let info = token.info
        return ProvisioningLocation(
            name: "token \(info.name)", serial: info.serial, model: info.model,
            evidence: [
                "tokenLabel": info.label, "tokenSerial": info.serial, "tokenModel": info.model,
                "tokenManufacturer": info.manufacturer, "tokenFirmware": info.firmware,
            ])
    }

    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        try await perform { token in
            let name = try KeyName(selector, publicKey: key.publicKey)
            return try KeyImport(token: token, key: key, name: name, allowsClear: allowsClear, tell: tell)
                .run(isResumed: isResumed)
        }
    }

    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        try await perform { token in
            try KeyGeneration(token: token, selector: selector, tell: tell).run(isResumed: isResumed)
        }
    }

    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey {
        try await perform { token in
            try WrappingKeyPair.make(KeyName(selector, publicKey: nil), on: token)
        }
    }

    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey {
        try await perform { token in
            try KeyDestruction(
                token: token, selector: selector, fingerprint: fingerprint, isResumed: isResumed, tell: tell
            ).run()
        }
    }

    func close() async {
        // After a call that hangs, the process does not wait for as long again.
        _ = try? await perform(within: 10_000) { token in token.close() }
        worker.end()
        watch.end()
    }

    private func perform<Value: Sendable>(
        within milliseconds: Int = timeout, _ body: @escaping @Sendable (WritableToken) throws -> Value
    ) async throws(KeyError) -> Value {
        try await worker.perform(within: milliseconds, watchedBy: watch) { [token] () throws(KeyError) in
            do { return try body(token) } catch { throw token.keyError(error) }
        }
    }
}

extension ProvisionedKey {
    init(
        _ publicKey: P256.Signing.PublicKey, _ method: Method, label: String, id: [UInt8],
        _ readback: CreatedKeyCheck, lacksPublicKey: Bool = false
    ) {
        let summary =
            switch method {
            case .unwrapped: "It was imported by C_UnwrapKey under a temporary key, which the token made and deleted."
            case .unwrappedPackage: "It was unwrapped in the token; it was never in the clear on this machine."
            case .created:
                "It was imported by C_CreateObject, in the clear, as you allowed: the token cannot unwrap."
            case .generated: "The token made it."
            case .found: "It was there from an interrupted run."
            }
        self.init(
            publicKey: publicKey, method: method, summary: summary, attributes: readback.attributes,
            evidence: ["CKA_LABEL": label, "CKA_ID": Hexadecimal.encode(id)], warnings: readback.warnings,
            lacksPublicKey: lacksPublicKey)
    }
}
