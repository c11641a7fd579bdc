/// Something that happened to a place where keys live, for those who keep a record.
public struct KeyPlaceEvent: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// Nothing there signs any more.
        case lost
        case back
        case pinRefused = "pin-refused"
    }

    public var kind: Kind
    /// Of the token.
    public var label: String?
    public var serial: String?
    /// A sentence; no secret is in it.
    public var reason: String?

    public init(_ kind: Kind, label: String? = nil, serial: String? = nil, reason: String? = nil) {
        self.kind = kind
        self.label = label
        self.serial = serial
        self.reason = reason
    }
}
