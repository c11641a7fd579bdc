import StrictJSON

/// An error, a warning or a note about a signature.
public struct Finding: Equatable, Sendable {
    public enum Evidence: String, Sendable {
        /// The signature verifies with this mistake in the signed bytes, and only then.
        case proven
        /// The mistake is visible in the input.
        case seen
    }

    public let code: FindingCode
    public let severity: Severity
    public let evidence: Evidence
    /// The field, member or part with the mistake, in Apple's spelling.
    public let field: String?
    /// The observation, in one or more sentences.
    public let message: String

    /// The remedy, in one or more sentences.
    public let cure: String

    /// - Parameter cure: Nil for the remedy of the code.
    public init(
        _ code: FindingCode, _ severity: Severity = .error, _ evidence: Evidence = .seen, field: String? = nil,
        _ message: String, cure: String? = nil
    ) {
        self.code = code
        self.severity = severity
        self.evidence = evidence
        self.field = field
        self.message = message
        self.cure = cure ?? code.cure
    }

    /// A visible error without a field.
    init(_ code: FindingCode, _ message: String) {
        self.init(code, .error, .seen, message)
    }

    func with(_ evidence: Evidence) -> Finding {
        Finding(code, severity, evidence, field: field, message, cure: cure)
    }
}

extension Finding: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "code": code.rawValue, "severity": severity.rawValue, "evidence": evidence.rawValue, "field": field,
            "message": message, "cure": cure,
        ]
        try members.encode(to: encoder)
    }
}
