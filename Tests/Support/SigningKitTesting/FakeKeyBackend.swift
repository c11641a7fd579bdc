import Crypto
public import SigningKit
import Synchronization

/// A backend with keys in memory, for tests of the layers above it. Its `FakeBackendLocation` scripts faults.
///
/// A key's URI is `fake:PLACE;key=NAME`, where `PLACE` is the location's name.
public struct FakeKeyBackend: KeyBackend {
    public static let scheme = "fake"
    public static let settings = [
        PluginSetting("queueLimit", .integer(default: 512, allowed: 1...65_536), "Signatures that may wait.")
    ]

    public let place: FakeBackendLocation
    private let limit: Int
    private let opening: Int
    private let isClosed = Closing()

    /// Opens a location without a URI.
    public init(_ place: FakeBackendLocation, queueLimit: Int = 512) {
        self.init(place, queueLimit, opening: 0)
    }

    private init(_ place: FakeBackendLocation, _ queueLimit: Int, opening: Int) {
        self.place = place
        limit = queueLimit
        self.opening = opening
    }

    public static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        let parts = uri.path.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].hasPrefix("key=") else {
            throw .invalidURI("it must be fake:PLACE;key=NAME")
        }
        return KeyAddress(
            locator: KeyLocator(try KeyURI("fake:\(parts[0])")), selector: KeySelector(try KeyURI("fake:\(parts[1])")))
    }

    public static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> FakeKeyBackend {
        guard let place = FakeBackendLocation.named(String(locator.uri.path)) else {
            throw .notFound("There is no place \(locator.uri.path).")
        }
        if let reference = place.secretReference { _ = try environment.secrets.secret(reference) }
        let opening = try place.noteOpening()
        return FakeKeyBackend(place, environment.settings.integer("queueLimit"), opening: opening)
    }

    public func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey {
        try checkOpen()
        let name = String(selector.uri.path.dropFirst("key=".count))
        return Key(
            name: name, key: try place.key(name), place: place, limit: limit, opening: opening, isClosed: isClosed)
    }

    public func health() async -> KeyBackendHealth {
        isClosed.value ? .unavailable(KeyError.closed.description) : place.health
    }

    public func close() async {
        if isClosed.close() { place.noteClosing() }
        await place.idle()
    }

    private func checkOpen() throws(KeyError) {
        if isClosed.value { throw .closed }
    }

    private final class Closing: Sendable {
        private let state = Atomic<Bool>(false)

        var value: Bool { state.load(ordering: .acquiring) }
        /// - Returns: whether it was open.
        func close() -> Bool { !state.exchange(true, ordering: .acquiringAndReleasing) }
    }

    private struct Key: SigningKey {
        let name: String
        let key: P256.Signing.PrivateKey
        let place: FakeBackendLocation
        let limit: Int
        let opening: Int
        let isClosed: Closing

        var publicKey: P256.Signing.PublicKey { place.shownPublicKey ?? key.publicKey }
        var custody: KeyCustody { .process }
        var signsInCaller: Bool { true }
        var proofSchedule: ProofSchedule { place.proofSchedule }
        var tokenSerial: String? { place.tokenSerial }

        func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
            if isClosed.value { throw .closed }
            // As on a token, a removed key does not sign, although a handle to it still exists.
            _ = try place.key(name)
            try place.requireUnworn(opening)
            return try await place.sign(digest, with: key, limit: limit)
        }
    }
}

extension FakeKeyBackend: KeyProvisioning {
    public static func uri(_ uri: KeyURI, naming keyID: String) throws(KeyError) -> KeyURI { uri }

    /// Not supported: tests add and remove keys with `FakeBackendLocation`.
    public static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession {
        throw .unfit("The place takes no changes.")
    }
}
