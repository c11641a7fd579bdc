/// Which signatures are verified against the public key before they leave. A verification costs two and a half
/// signatures of a file key.
public enum VerificationMode: Hashable, Sendable {
    case always
    /// One of `every`; all of them once a bad one has been seen.
    case sampled(every: Int)
    case off
}
