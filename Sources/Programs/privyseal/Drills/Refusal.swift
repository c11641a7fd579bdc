import KeyDrills
import StrictJSON

/// Checks that an action or a request is refused.
enum Refusal {
    /// The `type` (RFC 9457) with which the gateway must refuse a request of a drill.
    enum Problem: String {
        /// The named key is stopped, or not active yet.
        case keyNotInUse = "urn:privyseal:problem:key-not-in-use"
        /// The account has no active key.
        case noKeyInUse = "urn:privyseal:problem:no-key-in-use"
    }

    /// Performs the action. The gateway must refuse it with a whole sentence.
    static func of(_ act: () async throws -> Void) async throws -> DrillLog.Finding {
        do {
            try await act()
            return .not("It was done.")
        } catch AdminError.refused(let detail) {
            return .when(isSentence(detail), "Refused: \(detail)")
        }
    }

    /// - Parameter problem: the required reason. A refusal for another reason says nothing about the key.
    static func of(_ answer: (answer: LoadAnswer, body: [UInt8]), as problem: Problem) -> DrillLog.Finding {
        .when(answer.answer.isFailed && member("type", answer.body) == problem.rawValue, text(answer))
    }

    /// The result of a request as a sentence.
    static func text(_ answer: (answer: LoadAnswer, body: [UInt8])) -> String {
        switch answer.answer.outcome {
        case .failed(let status):
            let detail = member("detail", answer.body) ?? "no reason given"
            return "Refused with \(status): \(detail)" + (detail.hasSuffix(".") ? "" : ".")
        case .served(let keyID): return "It was signed with \(keyID)."
        case .wronglySigned(let reason): return "It was signed, and wrongly. \(reason)"
        }
    }

    /// At least three words, and a full stop.
    static func isSentence(_ text: String) -> Bool {
        text.hasSuffix(".") && text.split(separator: " ").count >= 3
    }

    /// A text of a problem document (RFC 9457).
    private static func member(_ name: String, _ body: [UInt8]) -> String? {
        try? JSONDocument(parsing: body).root.anyObject().decode(name)
    }
}
