import StrictJSON

/// The sentence for a claim of the wrong kind.
enum ClaimKind {
    static func message(_ name: String, _ expected: JSONKind, _ found: JSONKind) -> String {
        "The claim \(JSONReadError(.wrongKind(expected: expected, found: found), at: name))"
    }
}
