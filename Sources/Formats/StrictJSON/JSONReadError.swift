/// Well-formed JSON without the value that the reader requires.
public struct JSONReadError: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        case missing
        /// The reader does not know this member; `known` lists those that it does.
        case unknown(known: [String])
        case wrongKind(expected: JSONKind, found: JSONKind)
        /// The kind is right, but the value is not allowed. The text is the rest of a sentence after the member's name.
        case invalid(String)
    }

    public let reason: Reason
    /// Members and indexes from the root to the value, such as `request.items[0].SKU`; empty for the root.
    public let path: String

    public init(_ reason: Reason, at path: String = "") {
        self.reason = reason
        self.path = path
    }

    /// The same error, relative to the object that holds the value under `name`.
    public func inside(_ name: String) -> JSONReadError {
        let name = name.excerpt
        return JSONReadError(reason, at: path.isEmpty ? name : path.first == "[" ? name + path : "\(name).\(path)")
    }

    /// The same error, relative to the array that holds the value at `index`.
    public func inside(index: Int) -> JSONReadError {
        JSONReadError(reason, at: path.isEmpty || path.first == "[" ? "[\(index)]\(path)" : "[\(index)].\(path)")
    }
}

extension JSONReadError: CustomStringConvertible {
    public var description: String {
        let subject = path.isEmpty ? "The body" : "\"\(path)\""
        switch reason {
        case .missing: return "\(subject) is missing; it is required."
        case .unknown(let known):
            let cure = known.isEmpty ? "no member is allowed here" : "the members are \(known.joined(separator: ", "))"
            return "\(subject) is not a known member; \(cure)."
        case .wrongKind(let expected, let found):
            return "\(subject) is \(found.withArticle); it must be \(expected.withArticle)."
        case .invalid(let sentence): return "\(subject) \(sentence)."
        }
    }
}

extension String {
    /// At most the first 100 characters, for messages: a sender chooses names and numbers, and their length.
    var excerpt: String { unicodeScalars.count > 100 ? String(unicodeScalars.prefix(100)) + "…" : self }
}
