/// The `type` of a problem document (RFC 9457) with which a request of a drill must be refused.
enum ExpectedProblem: String {
    /// The key that the request names is stopped, or not active yet.
    case keyNotInUse = "urn:privyseal:problem:key-not-in-use"
    /// The account has no active key.
    case noKeyInUse = "urn:privyseal:problem:no-key-in-use"
}
