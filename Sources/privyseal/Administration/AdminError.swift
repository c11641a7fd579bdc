import Glibc
import NIOCore
import NIOPosix

/// Why a running gateway did not do what it was asked to.
enum AdminError: Error, CustomStringConvertible {
    /// Nobody listens at this address, so no gateway runs there.
    case absent(String)
    /// A sentence without its full stop.
    case unreachable(String)
    /// What the gateway answered.
    case refused(String)

    var description: String {
        switch self {
        case .absent(let address):
            "The gateway was not reached: \(address): nobody listens there, so the gateway does not run."
        case .unreachable(let sentence): "The gateway was not reached: \(sentence)."
        case .refused(let detail): detail
        }
    }

    /// Whether connecting failed because nobody listens: no such socket, or one that a process left behind (connect(2),
    /// ENOENT and ECONNREFUSED). A socket that may not be opened is something else.
    static func isAbsence(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError: [ENOENT, ECONNREFUSED].contains(error.errnoCode)
        case let error as NIOConnectionError:
            !error.connectionErrors.isEmpty && error.connectionErrors.allSatisfy { isAbsence($0.error) }
        default: false
        }
    }
}
