/// The result of a step or of the whole drill.
public enum DrillVerdict: String, Codable, Sendable {
    case passed, failed
}
