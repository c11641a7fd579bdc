import Crypto
import SigningKit
import StrictJSON
import Synchronization

/// The tokens that Apple wants in several requests. Callers that come at the same time share one signature.
///
/// It outlives a reload. A restart empties it: a token is a secret, so it is not written to a disk.
public final class ServiceTokenCache: Sendable {
    /// One token, and a mutex for the request that signs it.
    final class Slot: Sendable {
        /// Held during a signature.
        let turn = AsyncMutex()
        private let kept = Mutex<IssuedToken?>(nil)

        var token: IssuedToken? { kept.withLock { $0 } }

        func keep(_ token: IssuedToken) { kept.withLock { $0 = token } }
    }

    /// Callers choose scopes, origins and lifetimes, so the number of such tokens has a limit. Above it, a token is not kept.
    private static let most = 1000

    private let slots = Mutex<[String: Slot]>([:])

    public init() {}

    /// - Parameter reuse: of the service. A token of a service that wants no new one for some time is always kept: callers
    ///   choose nothing of it, so the configuration limits the number.
    func slot(_ name: String, _ reuse: ServiceTokenReuse, at now: Timestamp) -> Slot {
        slots.withLock { slots in
            if let slot = slots[name] { return slot }
            if slots.count >= Self.most {
                slots = slots.filter { $1.turn.isTaken || $1.token.map { $0.refreshAfter > now.seconds } == true }
            }
            let slot = Slot()
            let mustKeep = if case .forSeconds = reuse { true } else { false }
            if mustKeep || slots.count < Self.most { slots[name] = slot }
            return slot
        }
    }
}

/// An answer with a service token, and what the gateway has to know about it.
struct IssuedToken: Sendable {
    /// When this gateway got to know the token, so that a clock that is set back does not keep it alive.
    private let known = ContinuousClock.now
    /// The answer.
    let json: [UInt8]
    let keyID: String
    /// In seconds since 1970.
    let issuedAt: Int64
    let refreshAfter: Int64
    let expires: Timestamp
    /// SHA-256 of the signing input, as in the entry of the signature.
    let digest: SHA256Digest

    /// Whether the token may be handed out until `refreshAfter`, by the clock and by the time that has passed.
    func isFresh(at now: Int64) -> Bool {
        // Apple refuses a time in the future, but a clock may be a moment behind the one of another gateway.
        now < refreshAfter && now + ServiceLifetime.allowance >= issuedAt
            && .now - known < .seconds(max(0, refreshAfter - issuedAt))
    }

    /// The time of `issuedAt`.
    var issued: Timestamp { Timestamp(seconds: issuedAt) }

    /// Nil unless the answer is a service token.
    init?(_ json: [UInt8]) {
        guard let members = try? JSONDocument(parsing: json).root.anyObject(),
            let token = try? members["token"]?.string(), let keyID = try? members["keyId"]?.string(),
            let issuedAt = try? members["issuedAt"]?.integer(),
            let refreshAfter = try? members["refreshAfter"]?.integer(),
            let expiresAt = try? members["expiresAt"]?.integer(),
            let end = token.lastIndex(of: ".")
        else { return nil }
        self.json = json
        self.keyID = keyID
        self.issuedAt = issuedAt
        self.refreshAfter = refreshAfter
        expires = Timestamp(seconds: expiresAt)
        digest = SHA256.hash(data: Array(token[..<end].utf8))
    }
}
