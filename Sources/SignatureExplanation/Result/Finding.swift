public import StrictJSON

/// One thing that was found wrong, or worth knowing, with a signature.
public struct Finding: Equatable, Sendable {
    /// How sure the finding is.
    public enum Evidence: String, Sendable {
        /// With this mistake in the signed bytes, and only then, the signature verifies.
        case proven
        /// It stands there, to be seen by anybody.
        case seen
    }

    public let code: FindingCode
    public let severity: Severity
    public let evidence: Evidence
    /// The field, member or part that it is about, in Apple's spelling.
    public let field: String?
    /// What was seen: one or more whole sentences.
    public let message: String

    public init(
        _ code: FindingCode, _ severity: Severity = .error, _ evidence: Evidence = .seen, field: String? = nil,
        _ message: String
    ) {
        self.code = code
        self.severity = severity
        self.evidence = evidence
        self.field = field
        self.message = message
    }

    /// An error that is seen, and about no field in particular.
    init(_ code: FindingCode, _ message: String) {
        self.init(code, .error, .seen, message)
    }

    /// What to do about it: one or more whole sentences.
    public var cure: String { code.cure }

    func with(_ evidence: Evidence) -> Finding {
        Finding(code, severity, evidence, field: field, message)
    }
}

extension Finding: JSONWritable {
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("code", code.rawValue)
            writer.member("severity", severity.rawValue)
            writer.member("evidence", evidence.rawValue)
            if let field { writer.member("field", field) }
            writer.member("message", message)
            writer.member("cure", cure)
        }
    }
}
