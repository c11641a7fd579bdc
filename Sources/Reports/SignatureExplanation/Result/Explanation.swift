import StrictJSON

/// The result of examining one signature.
public struct Explanation: Sendable {
    /// The result of the verification and the search.
    public enum Outcome: String, Sendable {
        /// The signature verifies over exactly the bytes that Apple builds.
        case verified
        /// It verifies over other bytes, with another key or in another form. The findings name the mistakes.
        case explained
        /// The signature does not verify, and no known mistake was tried.
        case unverified
        /// The signature does not verify, and no known mistake explains it.
        case unexplained
    }

    /// The feature's ID; `jws` for a token of an unknown audience.
    public let kind: String
    public let outcome: Outcome
    /// Proven findings first, then errors, warnings and notes.
    public let findings: [Finding]
    /// The key that verifies the signature.
    public let key: CandidateKey?
    /// The keys that were tried.
    public let keys: [CandidateKey]
    /// The expected signing input, in readable form.
    public let signingInput: SigningInputRendering?
    /// The number of ECDSA verifications.
    public let verifications: Int

    /// Whether Apple accepts the signature, as far as PrivySeal can tell: it verifies, and its form is right. Warnings
    /// do not count: they depend on the time or on facts that only App Store Connect knows.
    public var isValid: Bool { outcome == .verified && !findings.contains { $0.severity == .error } }
}

extension Explanation: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "valid": isValid, "kind": kind, "outcome": outcome.rawValue, "findings": findings, "key": key,
            "signingInput": signingInput, "verifications": verifications,
        ]
        try members.encode(to: encoder)
    }
}
