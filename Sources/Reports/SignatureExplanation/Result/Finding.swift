/// An error, a warning or a note about a signature.
public struct Finding: Encodable, Equatable, Sendable {
    public enum Severity: String, Encodable, Sendable {
        /// The signature does not follow Apple's documentation. Apple nearly always refuses it for that.
        case error
        /// Apple may refuse the signature, because of the time or of facts that PrivySeal does not know.
        case warning
        /// Useful information without effect on the signature.
        case note
    }

    public enum Evidence: String, Encodable, Sendable {
        /// The signature verifies with this mistake in the signed bytes, and only then.
        case proven
        /// The mistake is visible in the input.
        case seen
    }

    public let code: FindingCode
    public let severity: Severity
    public private(set) var evidence = Evidence.seen
    /// The field, member or part with the mistake, in Apple's spelling.
    public let field: String?
    /// The observation, in one or more sentences.
    public let message: String
    /// The remedy, in one or more sentences.
    public let cure: String

    /// - Parameter cure: Nil for the remedy of the code.
    public init(
        _ code: FindingCode, in field: String? = nil, _ message: String, severity: Severity = .error,
        cure: String? = nil
    ) {
        self.code = code
        self.severity = severity
        self.field = field
        self.message = message
        self.cure = cure ?? code.cure
    }

    var proven: Finding {
        var proven = self
        proven.evidence = .proven
        return proven
    }
}

extension [Finding] {
    mutating func add(
        _ code: FindingCode, in field: String? = nil, _ message: String, severity: Finding.Severity = .error,
        cure: String? = nil
    ) {
        append(Finding(code, in: field, message, severity: severity, cure: cure))
    }
}
