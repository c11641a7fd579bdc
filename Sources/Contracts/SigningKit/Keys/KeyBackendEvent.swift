/// An event of a key backend, for the audit log.
public struct KeyBackendEvent: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// The backend can no longer sign.
        case lost
        case back
        case loginRefused = "pin-refused"
    }

    public var kind: Kind
    /// The name of the location, such as a token's label.
    public var label: String?
    public var serial: String?
    /// A sentence without secrets.
    public var reason: String?

    public init(_ kind: Kind, label: String? = nil, serial: String? = nil, reason: String? = nil) {
        self.kind = kind
        self.label = label
        self.serial = serial
        self.reason = reason
    }
}
