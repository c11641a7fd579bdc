/// How much a finding weighs.
public enum Severity: String, Sendable {
    /// The signature is not what Apple's pages ask for; nearly always Apple refuses it for that.
    case error
    /// Apple may refuse it: because of the time, or of something that cannot be seen from here.
    case warning
    /// Good to know; it does not make the signature worse.
    case note
}
