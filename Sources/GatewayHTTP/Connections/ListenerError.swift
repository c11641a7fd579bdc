/// Why a listener cannot listen where it should.
public enum ListenerError: Error, CustomStringConvertible {
    /// Something is there already; a sentence's rest says what.
    case occupied(String)
    /// The system does not allow it; a sentence's rest says what.
    case unusable(String)

    public var description: String {
        switch self {
        case .occupied(let what):
            "The gateway cannot listen: \(what). Stop what is there, or choose another address."
        case .unusable(let what): "The gateway cannot listen: \(what)."
        }
    }
}
