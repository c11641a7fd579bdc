import StrictJSON

enum ClaimKind {
    static func message(_ name: String, _ expected: JSONKind, _ found: JSONKind) -> String {
        "The claim \(JSONReadError(.wrongKind(expected: expected, found: found), at: name))"
    }
}
