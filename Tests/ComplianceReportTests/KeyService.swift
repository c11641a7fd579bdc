import Crypto
import SigningKit
import Synchronization

/// A remote key service as a test double: keys by region and name, and a bill for every call.
final class KeyService: Sendable {
    private struct State {
        var keys: [String: P256.Signing.PrivateKey] = [:]
        var bill: [String] = []
        var isReachable = true
    }

    private let state = Mutex(State())

    /// The names of the calls so far, in order.
    var bill: [String] { state.withLock { $0.bill } }

    var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set { state.withLock { $0.isReachable = newValue } }
    }

    func call<Value: Sendable>(
        _ name: String, _ body: @Sendable (inout [String: P256.Signing.PrivateKey]) throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        // The network: the task leaves its thread.
        await Task.yield()
        return try state.withLock { state throws(KeyError) in
            guard state.isReachable else { throw .unavailable("The service does not answer.") }
            state.bill.append(name)
            return try body(&state.keys)
        }
    }
}

/// A backend for `KeyService`, as a plugin for a cloud key service would be. Its URIs are `service:REGION/KEY`.
struct KeyServiceBackend: KeyBackend {
    static let scheme = "service"
    static let settings = [
        PluginSetting("connections", .integer(default: 8, allowed: 1...64), "Requests in parallel.")
    ]
    static let service = Mutex<[String: KeyService]>([:])
    static let proofs = ProofSchedule(interval: .seconds(3600), retryInterval: .milliseconds(50))

    let service: KeyService

    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        let parts = uri.path.split(separator: "/")
        guard (1...2).contains(parts.count) else { throw .invalidURI("it must be service:REGION/KEY") }
        return KeyAddress(
            locator: KeyLocator(try KeyURI("service:\(parts[0])")),
            selector: KeySelector(try KeyURI("service:\(parts.count == 2 ? parts[1] : "*")")))
    }

    static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> KeyServiceBackend {
        guard let service = service.withLock({ $0[String(locator.uri.path)] }) else {
            throw .notFound("There is no region \(locator.uri.path).")
        }
        return KeyServiceBackend(service: service)
    }

    func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey {
        let name = String(selector.uri.path)
        let publicKey = try await service.call("GetPublicKey") { keys throws(KeyError) in
            guard let key = keys[name] else { throw .notFound("The service has no key \(name).") }
            return key.publicKey
        }
        return Key(name: name, publicKey: publicKey, service: service)
    }

    func health() async -> KeyBackendHealth { .ready }
    func close() async {}

    private struct Key: SigningKey {
        let name: String
        let publicKey: P256.Signing.PublicKey
        let service: KeyService

        var custody: KeyCustody { .service }
        var proofSchedule: ProofSchedule { KeyServiceBackend.proofs }

        func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
            try await service.call("Sign") { keys throws(KeyError) in
                guard let raw = try? keys[name]?.signature(for: digest).rawRepresentation,
                    let signature = P256Signature(rawRepresentation: raw)
                else { throw .failed("The service made no signature.") }
                return signature
            }
        }
    }
}

extension KeyServiceBackend: KeyInspecting {
    func inspect(_ selector: KeySelector, provenance: KeyProvenance) async throws(KeyError) -> KeyInspection {
        let name = String(selector.uri.path)
        let key = try await service.call("DescribeKey") { keys throws(KeyError) in keys[name]?.publicKey }
        return KeyInspection(
            custody: .service, protection: .init(.hardware, "a key service (Example, HSM)"),
            matches: key == nil ? 0 : 1,
            fingerprint: key.map { PublicKeyFingerprint(of: $0) }, facts: [.init("Region", "eu-1")],
            evidence: ["KeySpec": "ECC_NIST_P256"], checks: [Self.origin(key == nil ? .unavailable : .pass)])
    }

    static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck] {
        [origin(.unavailable)]
    }

    private static func origin(_ result: ComplianceCheck.Result) -> ComplianceCheck {
        ComplianceCheck(
            "service.origin", "Was the key made in the service?", [.nist57("6")],
            value: result == .pass ? "EXAMPLE_HSM" : nil, expected: "EXAMPLE_HSM", result)
    }
}

extension KeyServiceBackend: KeyProvisioning {
    static func uri(_ uri: KeyURI, naming keyID: String) throws(KeyError) -> KeyURI {
        uri.path.contains("/") ? uri : try KeyURI("service:\(uri.path)/\(keyID)")
    }

    static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession {
        Session(service: try await open(locator, in: environment).service, region: String(locator.uri.path))
    }

    private struct Session: ProvisioningSession {
        let service: KeyService
        let region: String

        var location: ProvisioningLocation {
            ProvisioningLocation(
                name: "key service in \(region)", serial: "account 7", model: "HSM", evidence: ["region": region])
        }

        func take(
            _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
            tell: @escaping @Sendable (String) -> Void
        ) async throws(KeyError) -> ProvisionedKey { throw .unfit("The service takes no keys.") }

        func generate(
            as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
        ) async throws(KeyError) -> ProvisionedKey {
            let name = String(selector.uri.path)
            let publicKey = try await service.call("CreateKey") { keys throws(KeyError) in
                let key = P256.Signing.PrivateKey()
                keys[name] = key
                return key.publicKey
            }
            return ProvisionedKey(
                publicKey: publicKey, method: .generated, summary: "The service made it.",
                attributes: [.init("KeyUsage", "SIGN_VERIFY")], evidence: ["KeyId": name])
        }

        func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey {
            throw .unfit("The service takes no keys.")
        }

        func destroy(
            _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
            tell: @escaping @Sendable (String) -> Void
        ) async throws(KeyError) -> DestroyedKey {
            let name = String(selector.uri.path)
            let gone = try await service.call("ScheduleKeyDeletion") { keys throws(KeyError) in
                keys.removeValue(forKey: name)?.publicKey
            }
            return DestroyedKey(
                fingerprint: gone.map { PublicKeyFingerprint(of: $0) }, destroyedPrivate: gone == nil ? 0 : 1,
                destroyedPublic: 0, evidence: ["KeyId": name])
        }

        func close() async {}
    }
}
