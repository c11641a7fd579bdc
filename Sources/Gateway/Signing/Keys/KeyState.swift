public import SigningKit

/// The health of a configured key.
public enum KeyState: Equatable, Sendable {
    /// The key has signed a proof.
    case ready
    /// The key signs, but a person should check it. The value is a sentence.
    case degraded(String)
    /// The key does not sign now. The gateway retries in the background.
    case down(KeyError)
    /// The key must not be used as configured. A person must change something.
    case refused(KeyError)

    public static let refusedName = "refused"

    /// The case in one word.
    public var name: String {
        switch self {
        case .ready: "ready"
        case .degraded: "degraded"
        case .down: "down"
        case .refused: Self.refusedName
        }
    }

    /// Why the key is not ready, as a sentence.
    public var reason: String? {
        switch self {
        case .ready: nil
        case .degraded(let sentence): sentence
        case .down(let error), .refused(let error): error.description
        }
    }

    public var canSign: Bool {
        switch self {
        case .ready, .degraded: true
        case .down, .refused: false
        }
    }

    /// Whether the key may recover by itself.
    var isDown: Bool {
        if case .down = self { true } else { false }
    }

    init(_ error: KeyError) {
        switch error {
        case .busy, .cancelled, .unavailable, .failed, .notFound: self = .down(error)
        case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .ambiguous, .unfit,
            .closed:
            self = .refused(error)
        }
    }
}
