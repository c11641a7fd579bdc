/// How a backend fares.
public enum KeyBackendHealth: Hashable, Sendable {
    case ready
    /// It signs, but somebody should look; a sentence says why.
    case degraded(String)
    /// It does not sign now; a sentence says why.
    case unavailable(String)
}
