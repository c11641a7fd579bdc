/// Why a running gateway did not do what it was asked to.
enum AdminError: Error, CustomStringConvertible {
    /// A sentence without its full stop.
    case unreachable(String)
    /// What the gateway answered.
    case refused(String)

    var description: String {
        switch self {
        case .unreachable(let sentence): "The gateway was not reached: \(sentence)."
        case .refused(let detail): detail
        }
    }
}
