/// Values that may occur only once in the file.
struct UniqueValues<Value: Hashable> {
    private var first: [Value: ConfigurationOrigin] = [:]

    /// False, with a fault in `findings`, if an earlier element has the value.
    ///
    /// - Parameter what: names the value in the message.
    mutating func note(
        _ value: Value, _ what: @autoclosure () -> String, at origin: ConfigurationOrigin, _ findings: Findings
    ) -> Bool {
        if let first = first[value] {
            findings.fault(.alreadyTaken(what: what(), first: first), at: origin)
            return false
        }
        first[value] = origin
        return true
    }
}
