internal import Crypto
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// PINs that a token refused, for as long as the process runs: a few wrong ones lock a token, so no PIN is shown to
/// the same token twice, whoever asks. What is kept is a hash with a salt that nobody else knows.
enum RefusedPINs {
    private static let salt = SymmetricKey(size: .bits256)
    private static let refused = Mutex<Set<Entry>>([])

    private struct Entry: Hashable {
        var token: String
        var hash: [UInt8]
    }

    static func contains(_ pin: Secret?, for token: TokenInfo) -> Bool {
        let entry = entry(pin, token)
        return refused.withLock { $0.contains(entry) }
    }

    static func insert(_ pin: Secret?, for token: TokenInfo) {
        let entry = entry(pin, token)
        refused.withLock { _ = $0.insert(entry) }
    }

    private static func entry(_ pin: Secret?, _ token: TokenInfo) -> Entry {
        let hash = pin?.withBytes { Array(HMAC<SHA256>.authenticationCode(for: $0, using: salt)) }
        return Entry(token: token.identity, hash: hash ?? [])
    }
}
