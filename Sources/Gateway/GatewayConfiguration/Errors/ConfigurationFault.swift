/// A mistake in the configuration: origin, description and remedy. It never contains the text of a key's URI.
public struct ConfigurationFault: Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// The file cannot be read. The text continues a sentence after the file's name.
        case unreadable(String)
        /// Not YAML, or YAML that is not supported. The text continues a sentence after the origin.
        case syntax(String)
        /// An unknown key; `suggestion` is a similar known key.
        case unknownKey(known: [String], suggestion: String?)
        case duplicateKey(firstLine: Int)
        /// A required key is missing. The text says what to give, with an example.
        case missing(String)
        /// The key has no value, or has `null` or `~`.
        case noValue(expected: ConfigurationKind)
        case wrongKind(expected: ConfigurationKind, found: ConfigurationKind)
        /// The value has the right kind but is not allowed. The text continues a sentence, with the remedy.
        case notAllowed(String)
        /// A value that may occur only once; `what` names it, and `first` is its first occurrence.
        case alreadyTaken(what: String, first: ConfigurationOrigin)
    }

    public let origin: ConfigurationOrigin
    public let reason: Reason
}

extension ConfigurationFault: CustomStringConvertible {
    /// Such as `gateway.yaml:14: accounts[0].keys[1].uri: is missing; …`
    public var description: String { "\(origin): \(sentence)." }

    private var sentence: String {
        switch reason {
        case .unreadable(let sentence), .syntax(let sentence), .notAllowed(let sentence): sentence
        case .unknownKey(let known, let suggestion):
            "is not a known key; " + (suggestion.map { "did you mean \($0)? The" } ?? "the")
                + " keys are " + known.joined(separator: ", ")
        case .duplicateKey(let line): "is given twice, first on line \(line); keep one of them"
        case .missing(let what): "is missing; give \(what)"
        case .noValue(let expected): "has no value; give \(expected.article), or leave it out"
        case .wrongKind(let expected, let found):
            "must be \(expected.article), but is \(found.article)\(hint(expected))"
        case .alreadyTaken(let what, let first):
            "gives \(what) that is already given at \(first); give it only once"
        }
    }

    /// The remedies for values that older YAML parsers accept.
    private func hint(_ expected: ConfigurationKind) -> String {
        switch expected {
        case .boolean: "; write true or false, without quotes"
        case .wholeNumber: "; write it in decimal digits, without quotes or a unit"
        case .number: "; write it in decimal digits, such as 0.5, without quotes or a unit"
        case .list: "; begin each element with \"- \", or write [a, b]"
        case .mapping: "; write each key on a line of its own, as in \"key: value\""
        case .text: ""
        }
    }
}
