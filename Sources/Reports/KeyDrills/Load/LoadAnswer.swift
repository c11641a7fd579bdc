public import SigningKit

/// The times and the outcome of one request.
public struct LoadAnswer: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// Signed, and the named key verifies the signature.
        case served(keyID: String)
        /// The HTTP status, or why there was no answer.
        case failed(String)
        /// A signature that must not exist. The sentence says why.
        case wronglySigned(String)
    }

    public var begun: Timestamp
    public var ended: Timestamp
    public var outcome: Outcome

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
