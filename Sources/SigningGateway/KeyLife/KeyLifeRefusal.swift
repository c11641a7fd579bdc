/// Why a change in the life of a key is not made: a sentence with the cure.
public struct KeyLifeRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// It is against the rules as things stand.
        case transition
        /// There is no such key, proposal or ceremony.
        case unknown
        /// It could not be recorded, so nothing has changed.
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
