import KeyDrills

/// The conditions of a drill, from the command line.
struct DrillConditions: Sendable {
    let scenario: DrillScenario
    let isPlanned: Bool
    let participants: [DrillRecord.Participant]
    let load: LoadSettings
    /// Seconds for which the old key still signs requests that name it.
    let overlap: Int
    /// The time limit for actions of a person.
    let timeout: Duration
    /// Prints a line for the operator.
    let say: @Sendable (String) -> Void
}

/// The gateway of a drill, and its administrators.
struct DrillEnvironment: Sendable {
    let conditions: DrillConditions
    /// The account, and an app of it that has both forms of promotional offers.
    let issuerID: String
    let bundleID: String
    /// The staged key to activate; empty for a scenario without one.
    let replacement: String
    /// Has the rights of an administrator.
    let admin: AdminClient
    /// Has the rights of a client that may only request signatures; nil if none is known.
    let outsider: AdminClient?
    /// The public listener. The owner of the environment closes it after the drill.
    let target: LoadTarget
    /// Nil for a given gateway.
    var throwAway: TemporaryGateway?
}
