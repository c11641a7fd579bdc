/// The description of a setting, for the reference pages.
struct SettingReference: Sendable {
    /// From the root, as in `limits.connections` or `accounts[].keys[].uri`.
    private(set) var path: String
    let values: String
    let standard: String
    let summary: String
    var variable: String?
    var needsRestart = false

    func below(_ prefix: String) -> Self {
        var copy = self
        copy.path = prefix + path
        return copy
    }
}
