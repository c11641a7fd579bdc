import KeyDrills

/// How a drill is to be run.
struct DrillConditions: Sendable {
    let scenario: DrillScenario
    let isPlanned: Bool
    let participants: [DrillRecord.Participant]
    let load: LoadPlan
    /// In seconds.
    let overlap: Int
    let patience: Duration
    /// Where the record goes.
    let directory: String
    /// Takes a line for people.
    let say: @Sendable (String) -> Void
}
