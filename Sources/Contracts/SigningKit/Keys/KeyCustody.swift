/// The holder of the private key.
public enum KeyCustody: String, Codable, Sendable {
    /// This process holds it in memory.
    case process
    /// A token holds it and does not reveal it.
    case token
    /// A remote service holds it and does not reveal it. Each signature is a call over the network.
    case service
}
