/// The holder of the private key.
public enum KeyCustody: String, Codable, Sendable {
    /// This process holds it in memory.
    case process
    /// A token holds it and does not reveal it.
    case token
}
