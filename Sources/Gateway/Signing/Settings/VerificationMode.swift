/// Which signatures are verified before release. A verification costs as much as 2.5 signatures with a key file.
public enum VerificationMode: Hashable, Sendable {
    case always
    /// One of `every` signatures; all of them after a verification failure.
    case sampled(every: Int)
    case off
}
