import KeyDrills

/// Checks that an action is refused.
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

    /// At least three words, and a full stop.
    static func isSentence(_ text: String) -> Bool {
        text.hasSuffix(".") && text.split(separator: " ").count >= 3
    }
}
