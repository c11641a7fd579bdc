import Crypto
import SignerProtocol
public import SigningKit
import Synchronization

/// A key backend in signer processes. To the gateway, it looks like the backend that the signers host.
public final class SignerBackend<Hosted: KeyBackend>: KeyBackend {
    private enum Place {
        case thisProcess(Hosted)
        case signer(SignerPool, number: UInt32)
    }

    private let place: Place
    private let timeout: Duration
    private let isClosed = Atomic<Bool>(false)

    private init(_ place: Place, timeout: Duration) {
        self.place = place
        self.timeout = timeout
    }

    public static var scheme: String { Hosted.scheme }
    public static var settings: [PluginSetting] { Hosted.settings }
    public static var sharesSigner: Bool { Hosted.sharesSigner }
    public static var needsNetwork: Bool { Hosted.needsNetwork }
    public static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress { try Hosted.address(of: uri) }
    public static func signerName(of locator: KeyLocator) -> String { Hosted.signerName(of: locator) }
    public static func secretSources(of locator: KeyLocator) -> [String] { Hosted.secretSources(of: locator) }
    public static func modulePath(of locator: KeyLocator) -> String? { Hosted.modulePath(of: locator) }
    public static func callTimeout(_ settings: PluginSettings) -> Duration { Hosted.callTimeout(settings) }

    /// Opens the location in signer processes; in this process, if the environment has no signer or demands it.
    public static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> SignerBackend {
        let timeout = Hosted.callTimeout(environment.settings)
        guard let signer = environment.signer, !signer.isInProcess else {
            return SignerBackend(.thisProcess(try await Hosted.open(locator, in: environment)), timeout: timeout)
        }
        let (pool, number) = Signers.shared.place(signer, for: Hosted.sharesSigner ? nil : locator, environment)
        do throws(KeyError) { try await pool.open(backend(number, locator, environment)) } catch {
            await Signers.shared.closeIfEmpty(pool)
            throw error
        }
        return SignerBackend(.signer(pool, number: number), timeout: timeout)
    }

    private static func backend(
        _ number: UInt32, _ locator: KeyLocator, _ environment: KeyBackendEnvironment
    ) -> SignerPool.Backend {
        let call = { (orderedAt: UInt64?) in
            OpenCall(number, scheme: scheme, locator, environment.settings, orderedAt: orderedAt)
        }
        return SignerPool.Backend(
            call: call(environment.reopenOrderedAt), repetition: call(nil),
            // The backend's own limit comes first, with a better sentence.
            timeout: Hosted.callTimeout(environment.settings) + .seconds(2), secrets: environment.secrets,
            report: environment.report)
    }

    public func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey {
        if isClosed.load(ordering: .relaxed) { throw .closed }
        switch place {
        case .thisProcess(let backend): return CountedKey(try await backend.key(selector))
        case .signer(let pool, let number):
            let key = pool.nextKeyNumber()
            let found = try await pool.find(KeyCall(backend: number, key: key, selector))
            return SignerKey(found, number: key, pool: pool, timeout: timeout + SignerKey.margin)
        }
    }

    public func health() async -> KeyBackendHealth { await report().health }

    public func report() async -> KeyBackendReport {
        switch place {
        case .thisProcess(let backend): return await backend.report()
        case .signer(let pool, let number): return await pool.report(number)
        }
    }

    public func close() async {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        switch place {
        case .thisProcess(let backend): await backend.close()
        case .signer(let pool, let number):
            await pool.close(number, within: timeout + .seconds(2))
            await Signers.shared.closeIfEmpty(pool)
        }
    }
}

extension SignerBackend: KeyInspecting where Hosted: KeyInspecting {
    public func inspect(
        _ selector: KeySelector, provenance: KeyProvenance
    ) async throws(KeyError) -> KeyInspection {
        switch place {
        case .thisProcess(let backend): return try await backend.inspect(selector, provenance: provenance)
        case .signer(let pool, let number):
            return try await pool.inspect(InspectCall(KeyCall(backend: number, key: 0, selector), provenance))
        }
    }

    public static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck] {
        Hosted.checks(provenance: provenance, uninspected: error)
    }
}

extension SignerBackend: KeyProvisioning where Hosted: KeyProvisioning {
    public static func uri(_ uri: KeyURI, naming keyID: String) throws(KeyError) -> KeyURI {
        try Hosted.uri(uri, naming: keyID)
    }

    public static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession {
        guard let signer = environment.signer, !signer.isInProcess else {
            return try await Hosted.provisioningSession(at: locator, in: environment)
        }
        return try await SignerProvisioningSession.open(scheme, locator, signer, environment)
    }
}

/// The file is read in this process: the program that provisions keys has no network.
extension SignerBackend: KeyMaterialReading where Hosted: KeyMaterialReading {
    public static func material(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> KeyMaterial {
        try await Hosted.material(at: locator, in: environment)
    }
}
