/// Who can see the private key.
public enum KeyCustody: String, Sendable {
    /// This process holds it in its memory.
    case process
    /// A token holds it, and does not give it out.
    case token
}
