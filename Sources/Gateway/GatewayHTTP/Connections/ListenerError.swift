/// Why a listener cannot use its address. The associated value completes a sentence.
public enum ListenerError: Error, CustomStringConvertible {
    /// The address is in use.
    case occupied(String)
    /// The system refuses the address.
    case unusable(String)

    public var description: String {
        switch self {
        case .occupied(let what):
            "The gateway cannot listen: \(what). Free the address, or choose another one."
        case .unusable(let what): "The gateway cannot listen: \(what)."
        }
    }
}
