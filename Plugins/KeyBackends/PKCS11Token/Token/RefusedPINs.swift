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
        /// The token said that it did not look at the PIN. It may be shown again after a pause.
        case unchecked
    }

    private struct Entry: Hashable {
        var token: String
        var hash: [UInt8]
    }

    private struct Attempt {
        var verdict: Verdict
        var time: ContinuousClock.Instant
        /// Of answers in a row that the PIN was not looked at.
        var unchecked = 0

        /// 1, 2, 4 s.
        var pause: Duration { .seconds(1 << (unchecked - 1)) }
    }

    /// So many times in a row a token is believed that it did not look at the PIN.
    private static let uncheckedLimit = 3

    private static let salt = SymmetricKey(size: .bits256)
    private static let refused = Mutex<[Entry: Attempt]>([:])

    /// Why the PIN must not be shown to the token now; nil when it may be.
    static func verdict(_ credentials: Credentials, for token: TokenInfo) -> Verdict? {
        let entry = entry(credentials.pin, token)
        return refused.withLock { refused in
            guard let attempt = refused[entry] else { return nil }
            if attempt.verdict != .wrong, let orderedAt = credentials.orderedAt, orderedAt > attempt.time {
                return nil
            }
            if attempt.verdict == .unchecked, .now >= attempt.time + attempt.pause { return nil }
            return attempt.verdict
        }
    }

    static func insert(_ pin: Secret?, _ verdict: Verdict, for token: TokenInfo) {
        let entry = entry(pin, token)
        refused.withLock { $0[entry] = Attempt(verdict: verdict, time: .now) }
    }

    /// After a login whose answer says that the token did not look at the PIN: a token that says so again and again may
    /// count it all the same.
    ///
    /// - Returns: whether the PIN may be shown again without a person's order.
    static func mayShowAgain(_ pin: Secret?, afterUncheckedLoginTo token: TokenInfo) -> Bool {
        let entry = entry(pin, token)
        return refused.withLock { refused in
            let former = refused[entry]
            // A person who ordered one attempt after an unclear one has to order the next one, too.
            if let former, former.verdict != .unchecked { return false }
            let count = (former?.unchecked ?? 0) + 1
            guard count <= uncheckedLimit else { return false }
            refused[entry] = Attempt(verdict: .unchecked, time: .now, unchecked: count)
            return true
        }
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
