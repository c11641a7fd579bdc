public import SigningKit

/// How a configured key fares.
public enum KeyState: Equatable, Sendable {
    /// It has signed a proof.
    case ready
    /// It signs, but somebody should look; a sentence says why.
    case degraded(String)
    /// It does not sign now; it is asked again in the background.
    case down(KeyError)
    /// It must not be used as it is configured; a person has to change something.
    case refused(KeyError)

    /// In one word.
    public var name: String {
        switch self {
        case .ready: "ready"
        case .degraded: "degraded"
        case .down: "down"
        case .refused: "refused"
        }
    }

    /// Why it is not ready, as a sentence.
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

    /// Whether it may come back by itself.
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
