public struct AuditIdentity: Hashable, Sendable {
    /// The first line of every checkpoint, such as `privyseal.example.com/gateway-1` (C2SP tlog-checkpoint).
    public let origin: String
    /// The format version of the store's content.
    public let formatVersion: Int

    public static let currentFormat = 1

    public init(origin: String, formatVersion: Int = currentFormat) {
        self.origin = origin
        self.formatVersion = formatVersion
    }
}
