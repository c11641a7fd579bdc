public enum Severity: String, Sendable {
    /// The signature does not follow Apple's documentation. Apple nearly always refuses it for that.
    case error
    /// Apple may refuse the signature, because of the time or of facts that PrivySeal does not know.
    case warning
    /// Useful information without effect on the signature.
    case note
}
