import KeyDrills
import StrictJSON

/// Checks that an action or a request is refused.
enum Refusal {
    /// Performs the action. The gateway must refuse it with a whole sentence.
    static func of(_ act: () async throws -> Void) async throws -> DrillLog.Finding {
        do {
            try await act()
            return .not("It was done.")
        } catch AdminError.refused(let detail) {
            return .when(isSentence(detail), "Refused: \(detail)")
        }
    }

    /// - Parameter problem: the required `type` (RFC 9457), without the part that all problems share. A refusal for
    ///   another reason says nothing about the key.
    static func of(_ probe: LoadDriver.Probe, as problem: String) -> DrillLog.Finding {
        .when(probe.answer.isFailed && member("type", probe.body) == "urn:privyseal:problem:\(problem)", text(probe))
    }

    /// The result of a request as a sentence.
    static func text(_ probe: LoadDriver.Probe) -> String {
        switch probe.answer.outcome {
        case .failed(let status):
            let detail = member("detail", probe.body) ?? "no reason given"
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
