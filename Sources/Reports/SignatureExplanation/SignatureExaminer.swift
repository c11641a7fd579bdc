public import SigningKit

/// Determines whether Apple accepts a signature and, if not, why.
///
/// It has no mutable state, so any thread may use it. A search takes up to `maximumVerifications` × 50 µs of one core.
public struct SignatureExaminer: Sendable {
    /// Enough for the complete search with one or two keys: three seconds of one core.
    public static let defaultMaximumVerifications = 60_000

    let keys: [CandidateKey]
    /// The features that make a JWS.
    let audiences: [FeatureDescriptor]
    /// The kinds of service tokens.
    let profiles: [ServiceProfile]
    let now: Timestamp
    let maximumVerifications: Int

    /// - Parameters:
    ///   - keys: The keys that may have made the signature.
    ///   - features: The features whose tokens can be checked. Features without a JWS have no effect.
    ///   - profiles: The kinds of service tokens that can be checked.
    ///   - now: The current time, for the findings about a signature's age.
    ///   - maximumVerifications: The limit of the search for a signing input of up to 4 KiB. It is lower in proportion
    ///     for a longer one.
    public init(
        keys: [CandidateKey], features: [FeatureDescriptor], profiles: [ServiceProfile] = [], now: Timestamp,
        maximumVerifications: Int = defaultMaximumVerifications
    ) {
        self.keys = keys
        audiences = features.filter { $0.claims != nil }
        self.profiles = profiles
        self.now = now
        self.maximumVerifications = maximumVerifications
    }
}
