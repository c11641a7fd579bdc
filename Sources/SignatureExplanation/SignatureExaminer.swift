public import SigningKit

/// Tells whether Apple accepts a signature, and if not, why.
///
/// It holds no state and can be used from anywhere; a search takes up to `maximumVerifications` × 50 µs of one core.
public struct SignatureExaminer: Sendable {
    /// Enough for every stage of the search with one or two keys, and three seconds of one core.
    public static let defaultMaximumVerifications = 60_000

    private let keys: [CandidateKey]
    private let now: Timestamp
    private let maximumVerifications: Int

    /// - Parameters:
    ///   - keys: those that may have made the signature.
    ///   - now: when it is, for what is said of a signature's age.
    ///   - maximumVerifications: the bound of the search.
    public init(
        keys: [CandidateKey], now: Timestamp, maximumVerifications: Int = defaultMaximumVerifications
    ) {
        self.keys = keys
        self.now = now
        self.maximumVerifications = maximumVerifications
    }

    /// - Parameter isSearching: whether to look for the mistake when the signature does not verify as it is.
    public func examine(_ answer: LegacyAnswer, isSearching: Bool) -> Explanation {
        LegacyExamination(answer: answer, keys: keys, now: now, maximumVerifications: maximumVerifications)
            .explanation(isSearching: isSearching)
    }

    /// - Parameters:
    ///   - token: a compact JWS, exactly as the app gets it.
    ///   - app: the bundle ID that is expected in it, if any.
    ///   - isSearching: whether to look for the mistake when the signature does not verify as it is.
    public func examine(token: [UInt8], app: String? = nil, isSearching: Bool) -> Explanation {
        TokenExamination(token: token, app: app, keys: keys, now: now, maximumVerifications: maximumVerifications)
            .explanation(isSearching: isSearching)
    }
}
