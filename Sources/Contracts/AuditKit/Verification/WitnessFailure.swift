/// What happens while too few witnesses cosign.
public enum WitnessFailure: String, CaseIterable, Sendable {
    /// The gateway signs nothing.
    case require
    /// The gateway signs, and an alert reports it.
    case warn
}
