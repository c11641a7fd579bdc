/// The word for a signature that was released, where refusals have their reasons.
public enum AuditOutcome {
    public static let signed = "signed"
}
