/// The `type` (RFC 9457) with which the gateway must refuse a request of a drill.
enum ExpectedProblem: String {
    /// The named key is stopped, or not active yet.
    case keyNotInUse = "urn:privyseal:problem:key-not-in-use"
    /// The account has no active key.
    case noKeyInUse = "urn:privyseal:problem:no-key-in-use"
}
