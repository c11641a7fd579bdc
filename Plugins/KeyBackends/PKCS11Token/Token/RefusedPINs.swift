import Crypto
import PKCS11
import SigningKit
import Synchronization

/// PINs that a token did not accept, for the lifetime of the process. A few wrong PINs lock a token, so no part of the
/// process sends such a PIN to the same token again. The list holds HMACs under a key that exists only in this process.
enum RefusedPINs {
    enum Verdict: Hashable {
        /// The token reported that the PIN is wrong.
        case wrong
        /// The login failed in another way, and the token may have counted it. The operator may order one more attempt.
        case unclear
        /// The token reported that it did not check the PIN. The PIN may be sent again after a pause.
        case unchecked
    }

    private struct Entry: Hashable {
        var token: String
        var hash: [UInt8]
    }

    private struct Attempt {
        var verdict: Verdict
        /// `MonotonicTime`.
        var time: UInt64
        /// Consecutive logins in which the token did not check the PIN.
        var unchecked = 0

        /// When it may be repeated: after 1, 2, 4 s.
        var end: UInt64 { time + (1_000_000_000 << (unchecked - 1)) }
    }

    /// The number of consecutive `unchecked` logins after which the token is no longer believed.
    private static let uncheckedLimit = 3

    private static let salt = SymmetricKey(size: .bits256)
    private static let refused = Mutex<[Entry: Attempt]>([:])

    /// Why the PIN must not be sent to the token now; nil if it may be sent.
    static func verdict(_ credentials: Credentials, for token: TokenInfo) -> Verdict? {
        let entry = entry(credentials.pin, token)
        return refused.withLock { refused in
            guard let attempt = refused[entry] else { return nil }
            if attempt.verdict != .wrong, let reopenOrderedAt = credentials.reopenOrderedAt,
                reopenOrderedAt > attempt.time
            {
                return nil
            }
            if attempt.verdict == .unchecked, MonotonicTime.nanoseconds() >= attempt.end { return nil }
            return attempt.verdict
        }
    }

    static func insert(_ pin: Secret?, _ verdict: Verdict, for token: TokenInfo) {
        let entry = entry(pin, token)
        refused.withLock { $0[entry] = Attempt(verdict: verdict, time: MonotonicTime.nanoseconds()) }
    }

    /// Records an `unchecked` login. A token that reports this repeatedly may still count the attempts.
    ///
    /// - Returns: whether the PIN may be sent again without an order of the operator.
    static func mayRetry(_ pin: Secret?, afterUncheckedLoginTo token: TokenInfo) -> Bool {
        let entry = entry(pin, token)
        return refused.withLock { refused in
            let former = refused[entry]
            // If the operator had to order this attempt, the operator must order the next one, too.
            if let former, former.verdict != .unchecked { return false }
            let count = (former?.unchecked ?? 0) + 1
            guard count <= uncheckedLimit else { return false }
            refused[entry] = Attempt(
                verdict: .unchecked, time: MonotonicTime.nanoseconds(), unchecked: count)
            return true
        }
    }

    /// Call this after a successful login.
    static func remove(_ pin: Secret?, for token: TokenInfo) {
        let entry = entry(pin, token)
        refused.withLock { _ = $0.removeValue(forKey: entry) }
    }

    private static func entry(_ pin: Secret?, _ token: TokenInfo) -> Entry {
        let hash = pin?.withBytes { Array(HMAC<SHA256>.authenticationCode(for: $0, using: salt)) }
        return Entry(token: token.identity, hash: hash ?? [])
    }
}
