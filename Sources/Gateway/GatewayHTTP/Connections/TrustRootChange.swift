/// The event that a listener's trust roots have changed since the connection began.
struct TrustRootChange: Sendable {
    let identity: TLSIdentity
    /// Whether the new trust roots do not verify the connection's certificate, which is then already removed.
    let hasLostCertificate: Bool
}
