/// Why there is no key or no signature. Messages name the thing and the cure, and never hold a secret.
public enum KeyError: Error, Hashable, Sendable {
    // Before anything is touched: the configuration is wrong.

    /// The URI cannot be used as it is written.
    case invalidURI(String)
    /// A setting of the backend cannot be used as it is written.
    case invalidSetting(name: String, String)

    // While the place is opened and the key is sought.

    /// A PIN or passphrase could not be read.
    case secretUnavailable(String)
    /// The token refused the PIN as a wrong one: it is not shown again until another one is configured.
    case loginRefused(String)
    /// A login is not made, or not made again, until a person has looked at the token: it is locked, it warns of a lock,
    /// or a login ended without saying whether the PIN was counted. A reload makes one more attempt.
    case loginBlocked(String)
    /// No such file, module, token or key.
    case notFound(String)
    /// More than one token or key answers to the URI.
    case ambiguous(String)
    /// The key is there but must not be used: another curve, not a private key, readable by others, not protected, …
    case unfit(String)

    // While it signs.

    /// The queue in front of the key is full; asking again in a moment helps.
    case busy
    /// The caller no longer wants the signature.
    case cancelled
    /// The backend has been closed.
    case closed
    /// The place does not answer now. It is asked again in the background.
    case unavailable(String)
    /// The place answered, but not with a signature.
    case failed(String)

    /// Whether the same call may succeed later with nothing changed by a person.
    public var isTransient: Bool {
        switch self {
        case .busy, .unavailable: true
        case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .notFound, .ambiguous,
            .unfit, .cancelled, .closed, .failed:
            false
        }
    }
}

extension KeyError {
    /// Whether it is about a login that was refused or is not made.
    public var concernsLogin: Bool {
        switch self {
        case .loginRefused, .loginBlocked: true
        case .invalidURI, .invalidSetting, .secretUnavailable, .notFound, .ambiguous, .unfit, .busy, .cancelled,
            .closed, .unavailable, .failed:
            false
        }
    }
}

extension KeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidURI(let sentence): "The key's URI cannot be used: \(sentence)."
        case .invalidSetting(let name, let sentence): "The setting \(name) \(sentence)."
        case .secretUnavailable(let sentence), .loginRefused(let sentence), .loginBlocked(let sentence),
            .notFound(let sentence), .ambiguous(let sentence), .unfit(let sentence), .unavailable(let sentence),
            .failed(let sentence):
            sentence
        case .busy: "The queue in front of the key is full; try again in a moment."
        case .cancelled: "The signature was no longer wanted."
        case .closed: "The key's backend has been closed."
        }
    }
}
