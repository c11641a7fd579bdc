internal import Crypto
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// PINs that a token did not take, for as long as the process runs: a few wrong ones lock a token, so no PIN is shown to
/// the same token twice, by any part of the process. What is kept is a hash with a salt that exists in this process only.
enum RefusedPINs {
    enum Verdict: Hashable {
        /// The token said that the PIN is wrong.
        case wrong
        /// The login failed in another way, and may have cost a try. A person may order one more.
        case unclear
    }

    private struct Entry: Hashable {
        var token: String
        var hash: [UInt8]
    }

    private struct Attempt {
        var verdict: Verdict
        var time: ContinuousClock.Instant
    }

    private static let salt = SymmetricKey(size: .bits256)
    private static let refused = Mutex<[Entry: Attempt]>([:])

    /// Why the PIN must not be shown to the token now; nil when it may be.
    static func verdict(_ credentials: Credentials, for token: TokenInfo) -> Verdict? {
        let entry = entry(credentials.pin, token)
        return refused.withLock { refused in
            guard let attempt = refused[entry] else { return nil }
            if attempt.verdict == .unclear, let orderedAt = credentials.orderedAt, orderedAt > attempt.time {
                return nil
            }
            return attempt.verdict
        }
    }

    static func insert(_ pin: Secret?, _ verdict: Verdict, for token: TokenInfo) {
        let entry = entry(pin, token)
        refused.withLock { $0[entry] = Attempt(verdict: verdict, time: .now) }
    }

    /// After a login that the token took.
    static func remove(_ pin: Secret?, for token: TokenInfo) {
        let entry = entry(pin, token)
        refused.withLock { _ = $0.removeValue(forKey: entry) }
    }

    private static func entry(_ pin: Secret?, _ token: TokenInfo) -> Entry {
        let hash = pin?.withBytes { Array(HMAC<SHA256>.authenticationCode(for: $0, using: salt)) }
        return Entry(token: token.identity, hash: hash ?? [])
    }
}
