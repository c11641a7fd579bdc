/// A connection's listener has other trust roots than when the connection began.
struct TrustChange: Sendable {
    /// Whether the connection relies on a certificate that the new trust roots do not vouch for.
    let isDistrusted: Bool
}
