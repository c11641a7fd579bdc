/// Why a key lifecycle change is refused: a sentence with the remedy.
public struct KeyLifecycleRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The rules do not allow it in the current state.
        case transition
        /// The key, proposal or job does not exist.
        case unknown
        /// It could not be recorded. A stop may be in effect nevertheless.
        case unrecorded
    }

    public let kind: Kind
    public let description: String

    init(_ description: String) { self.init(.transition, description) }

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
