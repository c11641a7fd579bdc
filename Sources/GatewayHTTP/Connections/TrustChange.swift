/// A connection's listener has other trust roots than when the connection began.
struct TrustChange: Sendable {
    /// Of the listener.
    let identity: TLSIdentity
    /// Whether the connection had a certificate that the new trust roots do not vouch for. It is forgotten already.
    let hasLostCertificate: Bool
}
