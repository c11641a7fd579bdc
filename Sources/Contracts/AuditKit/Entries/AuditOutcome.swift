/// The outcome of a released signature. For a refusal, the outcome is its reason.
public enum AuditOutcome {
    public static let signed = "signed"
}
