import Glibc

/// Why a listener cannot use its address. The associated value completes a sentence.
public enum ListenerError: Error, CustomStringConvertible {
    /// The address is in use.
    case occupied(String)
    case noDirectory(String, of: String)
    /// This user may not use the address.
    case forbidden(String)
    /// The system refuses the address.
    case unusable(String)

    static func unknownHost(of address: String) -> ListenerError {
        .unusable("the host of \(address) cannot be found; give an address of this machine, such as 127.0.0.1")
    }

    /// - Parameter code: the value of `errno`.
    static func unopened(_ address: String, _ code: Int32) -> ListenerError {
        let reason = String(cString: strerror(code))
        return switch code {
        case EADDRINUSE: .occupied("another process listens on \(address)")
        case EACCES, EPERM: .forbidden("\(address) cannot be opened: \(reason)")
        case EADDRNOTAVAIL: .unusable("\(address) is not an address of this machine")
        default: .unusable("\(address) cannot be opened: \(reason)")
        }
    }

    public var description: String {
        switch self {
        case .occupied(let what):
            "The gateway cannot listen: \(what). Free the address, or choose another one."
        case .noDirectory(let directory, let path):
            "The gateway cannot listen: there is no directory \(directory) for the socket \(path). Make it first."
        case .forbidden(let what), .unusable(let what): "The gateway cannot listen: \(what)."
        }
    }
}
