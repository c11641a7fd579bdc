import Glibc

/// Why a listener cannot use its address. The associated value completes a sentence.
public enum ListenerError: Error, CustomStringConvertible {
    /// The address is in use.
    case occupied(String)
    /// The system refuses the address.
    case unusable(String)

    static func unknownHost(of address: String) -> ListenerError {
        .unusable("the host of \(address) cannot be found; give an address of this machine, such as 127.0.0.1")
    }

    /// - Parameter code: the value of `errno`.
    static func unopened(_ address: String, _ code: Int32) -> ListenerError {
        code == EADDRINUSE
            ? .occupied("another process listens on \(address)")
            : .unusable("\(address) cannot be opened: \(String(cString: strerror(code)))")
    }

    public var description: String {
        switch self {
        case .occupied(let what):
            "The gateway cannot listen: \(what). Free the address, or choose another one."
        case .unusable(let what): "The gateway cannot listen: \(what)."
        }
    }
}
