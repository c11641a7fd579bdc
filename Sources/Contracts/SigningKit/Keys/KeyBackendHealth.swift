public enum KeyBackendHealth: Hashable, Sendable {
    case ready
    /// It signs, but an operator should look into it. The sentence says why.
    case degraded(String)
    /// It does not sign now. The sentence says why.
    case unavailable(String)
}
