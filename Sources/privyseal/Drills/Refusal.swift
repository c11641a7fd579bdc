import KeyDrills

/// An act that must be refused.
enum Refusal {
    /// Tries it. It is as expected when the gateway refuses it with a whole sentence.
    static func of(_ act: () async throws -> Void) async throws -> DrillSheet.Finding {
        do {
            try await act()
            return .not("It was done.")
        } catch AdminError.refused(let detail) {
            return .when(isSentence(detail), "Refused: \(detail)")
        }
    }

    /// Several words, and a full stop.
    static func isSentence(_ text: String) -> Bool {
        text.hasSuffix(".") && text.split(separator: " ").count >= 3
    }
}
