import KeyDrills

struct DrillConditions: Sendable {
    let scenario: DrillScenario
    let isPlanned: Bool
    let participants: [DrillRecord.Participant]
    let load: LoadSettings
    /// In seconds.
    let overlap: Int
    let timeout: Duration
    /// The directory of the record.
    let directory: String
    /// Prints a line for the operator.
    let say: @Sendable (String) -> Void
}
