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
    private let session: TokenWorkSession
    private let worker: Worker
    private let watch: Worker

    /// In milliseconds: a smart card needs a minute for an RSA pair.
    private static let timeout = 180_000

    private init(_ session: TokenWorkSession, _ worker: Worker, _ watch: Worker) {
        (self.session, self.worker, self.watch) = (session, worker, watch)
    }

    static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> TokenProvisioningSession {
        let (worker, watch) = (Worker(), Worker())
        guard worker.start("privyseal-prov"), watch.start("privyseal-watch") else {
            worker.end()
            throw .unavailable("The system has no thread left for a token.")
        }
        do throws(KeyError) {
            let session = try await worker.perform(
                within: timeout, watchedBy: watch, late: late, onAbandoned: { $0.close() },
                { () throws(KeyError) in try TokenWorkSession(locator, in: environment) })
            return TokenProvisioningSession(session, worker, watch)
        } catch {
            worker.end()
            watch.end()
            throw error
        }
    }

    var location: ProvisioningLocation {
        let info = session.info
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
        try await perform { session throws(KeyError) in
            let name = try KeyName(selector, publicKey: key.publicKey)
            return try KeyImport(session: session, key: key, name: name, allowsClear: allowsClear, tell: tell)
                .run(isResumed: isResumed)
        }
    }

    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        try await perform { session throws(KeyError) in
            try KeyGeneration(session: session, selector: selector, tell: tell).run(isResumed: isResumed)
        }
    }

    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey {
        try await perform { session throws(KeyError) in
            try WrappingKeyPair.make(KeyName(selector, publicKey: nil), on: session)
        }
    }

    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey {
        try await perform { session throws(KeyError) in
            try KeyDestruction(
                session: session, selector: selector, fingerprint: fingerprint, isResumed: isResumed, tell: tell
            ).run()
        }
    }

    func close() async {
        _ = try? await perform { session throws(KeyError) in session.close() }
        worker.end()
        watch.end()
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (TokenWorkSession) throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        try await worker.perform(within: Self.timeout, watchedBy: watch, late: Self.late) {
            [session] () throws(KeyError) in try body(session)
        }
    }

    private static var late: KeyError { .unavailable("The token did not answer within \(timeout / 1000) s.") }
}
