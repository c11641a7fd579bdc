/// How a step, or the whole drill, came out.
public enum DrillVerdict: String, Sendable {
    case passed, failed
}
