public import SigningKit

/// One request and what came of it.
public struct LoadAnswer: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// Signed, and the signature verified with the key that it names.
        case served(keyID: String)
        /// The status, or why there was no answer.
        case failed(String)
        /// A signature that should not exist; why, in a sentence.
        case wronglySigned(String)
    }

    public var begun: Timestamp
    public var ended: Timestamp
    public var outcome: Outcome

    public init(begun: Timestamp, ended: Timestamp, outcome: Outcome) {
        self.begun = begun
        self.ended = ended
        self.outcome = outcome
    }

    public var keyID: String? {
        guard case .served(let keyID) = outcome else { return nil }
        return keyID
    }

    public var isServed: Bool { keyID != nil }

    public var isFailed: Bool {
        guard case .failed = outcome else { return false }
        return true
    }
}
