/// What is to be said of one signature.
public struct Explanation: Sendable {
    /// How far the signature itself came.
    public enum Outcome: String, Sendable {
        /// It verifies over exactly the bytes that Apple puts together.
        case verified
        /// It verifies over other bytes, with another key or in another form; the findings name the mistakes.
        case explained
        /// It does not verify, and none of the known mistakes was tried.
        case unverified
        /// It does not verify, and none of the known mistakes makes it do so.
        case unexplained
    }

    public let kind: SignatureKind
    public let outcome: Outcome
    /// Proven ones first, then what is to be seen; within these errors, warnings, notes.
    public let findings: [Finding]
    /// The key that verifies the signature.
    public let key: CandidateKey?
    /// The keys that were tried.
    public let keys: [CandidateKey]
    /// What should have been signed, in a readable way.
    public let signingInput: SigningInputPicture?
    /// How many ECDSA verifications it took.
    public let verifications: Int

    init(
        kind: SignatureKind, outcome: Outcome, findings: [Finding], key: CandidateKey?, keys: [CandidateKey],
        signingInput: SigningInputPicture?, verifications: Int
    ) {
        self.kind = kind
        self.outcome = outcome
        self.findings = Self.sorted(findings)
        self.key = key
        self.keys = keys
        self.signingInput = signingInput
        self.verifications = verifications
    }

    /// Whether Apple accepts the signature, as far as that can be seen without Apple: it verifies, and its form is right.
    /// Warnings do not count; they hang on the time or on facts that only App Store Connect knows.
    public var isValid: Bool {
        outcome == .verified && !findings.contains { $0.severity == .error }
    }

    private static func sorted(_ findings: [Finding]) -> [Finding] {
        let ranks: [[Finding]] = [
            findings.filter { $0.evidence == .proven },
            findings.filter { $0.evidence == .seen && $0.severity == .error },
            findings.filter { $0.evidence == .seen && $0.severity == .warning },
            findings.filter { $0.evidence == .seen && $0.severity == .note },
        ]
        return Array(ranks.joined())
    }
}

/// What kind of signature it is.
public enum SignatureKind: Equatable, Sendable {
    case legacyPromotionalOffer
    /// A JWS; its claim `aud`, where that is one of the three that are known.
    case jws(audience: TokenAudience?)

    /// The feature's ID, or `jws` when the audience is not known.
    public var name: String {
        switch self {
        case .legacyPromotionalOffer: "legacy-promotional-offer"
        case .jws(let audience): audience?.rawValue ?? "jws"
        }
    }
}
