import Crypto
import Encodings
import SigningKit

/// A token that all gateways of a fleet hand out, for services where Apple limits how often there may be a new one (APNs:
/// once in 20 minutes). A gateway claims it before it signs it; the others wait. It is stored sealed with the fleet's key.
struct SharedToken: Sendable {
    private struct Stored: Codable {
        /// The sealed answer, in Base64; nil before the first.
        var sealed: String?
        /// The gateway's request that signs a new one, and until when the others wait for it.
        var claim: String?
        var claimedUntil: Timestamp?
    }

    private enum Finding: Sendable {
        case token(IssuedToken), claimed, wait
    }

    /// In seconds: a signature takes less.
    private static let claimLimit: Int64 = 5
    private static let pause = Duration.milliseconds(50)

    private let values: any SharedValues
    private let name: String
    private let claim: String

    /// - Parameter slot: the name of the token in the cache of each gateway.
    init(_ slot: String, of request: RequestIdentity, in values: any SharedValues) {
        self.values = values
        name = "token/" + Hexadecimal.encode(SHA256.hash(data: Array(slot.utf8)))
        claim = "\(request.id) \(UInt64.random(in: .min ... .max))"
    }

    /// The token of the fleet; nil if this gateway must sign a new one, and then call `end`.
    ///
    /// - Parameter isUsable: whether a token may still be handed out.
    func find(_ isUsable: @escaping @Sendable (IssuedToken) -> Bool) async -> IssuedToken? {
        let end = ContinuousClock.now + .seconds(Self.claimLimit)
        while .now < end, !Task.isCancelled {
            switch await look(isUsable) {
            case .token(let token): return token
            case .claimed, nil: return nil
            case .wait: try? await Task.sleep(for: Self.pause)
            }
        }
        return nil
    }

    /// Nil if the database does not answer: a token of this gateway alone is better than none.
    private func look(_ isUsable: @escaping @Sendable (IssuedToken) -> Bool) async -> Finding? {
        let (values, claim, name) = (values, claim, name)
        return await values.change(name) { (stored: Stored?, time) -> (Stored, Finding) in
            var stored = stored ?? Stored()
            if let token = Self.token(in: stored, values, name), isUsable(token) { return (stored, .token(token)) }
            if let until = stored.claimedUntil, time < until, until <= time.later(by: Self.claimLimit),
                stored.claim != claim
            {
                return (stored, .wait)
            }
            (stored.claim, stored.claimedUntil) = (claim, time.later(by: Self.claimLimit))
            return (stored, .claimed)
        }
    }

    /// Gives a new token to the fleet, or gives the claim up.
    ///
    /// - Parameter token: nil if it could not be signed.
    func end(with token: IssuedToken?) async {
        let (values, claim, name) = (values, claim, name)
        _ = await values.change(name) { (stored: Stored?, _) -> (Stored, Void) in
            var stored = stored ?? Stored()
            guard stored.claim == claim else { return (stored, ()) }
            (stored.claim, stored.claimedUntil) = (nil, nil)
            if let token, let sealed = values.seal(token.json, as: name) {
                stored.sealed = Base64.standard.text(sealed)
            }
            return (stored, ())
        }
    }

    private static func token(in stored: Stored, _ values: any SharedValues, _ name: String) -> IssuedToken? {
        guard let text = stored.sealed, let sealed = Base64.standard.decode(text.utf8),
            let json = values.open(sealed, as: name)
        else { return nil }
        return IssuedToken(json)
    }
}
