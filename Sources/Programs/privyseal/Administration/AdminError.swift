import Glibc
import NIOCore
import NIOPosix

/// Why a request to a running gateway failed.
enum AdminError: Error, CustomStringConvertible {
    /// No process listens at this address, so no gateway runs there.
    case absent(String)
    /// The process that listens at this address did not answer in time.
    case silent(String, Duration)
    /// A sentence without its full stop.
    case unreachable(String)
    /// The gateway's answer.
    case refused(String)

    var description: String {
        switch self {
        case .absent(let address):
            "The gateway was not reached: \(address): no process listens there. Start the gateway, or correct the address."
        case .silent(let address, let limit):
            "The gateway at \(address) did not answer within \(limit.components.seconds) s. It may have carried out the "
                + "order nevertheless. If it hangs, end its process; without a running gateway, keys commands work with --config."
        case .unreachable(let sentence): "The gateway was not reached: \(sentence)."
        case .refused(let detail): detail
        }
    }

    /// Whether no process listens: the socket is missing, or its process has ended (connect(2): ENOENT, ECONNREFUSED).
    /// A socket without access permission is a different error.
    static func isAbsence(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError: [ENOENT, ECONNREFUSED].contains(error.errnoCode)
        case let error as NIOConnectionError:
            !error.connectionErrors.isEmpty && error.connectionErrors.allSatisfy { isAbsence($0.error) }
        default: false
        }
    }
}
