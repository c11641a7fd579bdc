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

    public var keyID: String? { if case .served(let keyID) = outcome { keyID } else { nil } }

    public var isServed: Bool { keyID != nil }

    public var isFailed: Bool { if case .failed = outcome { true } else { false } }
}

/// Periods of a drill without a served request: between two served answers, or from the last one to the end.
public enum ServiceOutages {
    /// In milliseconds. A longer outage is a deviation.
    static let longest: Int64 = 5000

    /// In milliseconds. A shorter outage is not counted, because a request may fail while others are served.
    private static let shortest: Int64 = 100

    /// Finds the outages of a load from `begin` to `end`.
    ///
    /// A period longer than `longest` between two served answers counts in full: a gateway that hangs gives no answers.
    /// Any other period counts from the start of its first failed request, if it has one.
    public static func find(
        in answers: [LoadAnswer], from begin: Timestamp, to end: Timestamp
    ) -> [Range<Timestamp>] {
        var outages: [Range<Timestamp>] = []
        var lastServed = begin
        var firstFailed: Timestamp?
        func note(from start: Timestamp?, to end: Timestamp) {
            guard let start, length(start, end) >= shortest else { return }
            outages.append(start..<end)
        }
        for answer in answers.sorted(by: { $0.ended < $1.ended }) {
            if answer.isServed {
                let isSilent = length(lastServed, answer.ended) > longest
                note(from: isSilent ? lastServed : firstFailed, to: answer.ended)
                (lastServed, firstFailed) = (answer.ended, nil)
            } else if answer.isFailed {
                firstFailed = max(lastServed, min(firstFailed ?? answer.begun, answer.begun))
            }
        }
        // Silence at the end is no outage, because the load may have sent all its requests.
        note(from: firstFailed, to: end)
        return outages
    }

    private static func length(_ begin: Timestamp, _ end: Timestamp) -> Int64 { end.milliseconds - begin.milliseconds }
}
