/// Why there is no key or no signature. The text names the object and the remedy, and never contains a secret.
public enum KeyError: Error, Hashable, Codable, Sendable {
    // Errors of the configuration, before any access to the backend.

    case invalidURI(String)
    case invalidSetting(name: String, String)

    // Errors while opening the backend and searching the key.

    /// A PIN or passphrase could not be read.
    case secretUnavailable(String)
    /// The token refused the PIN as wrong. The gateway does not try this PIN again until another one is configured.
    case loginRefused(String)
    /// The gateway does not attempt a login until a person has checked the token: it is locked, warns of a lock, or did
    /// not say whether it counted the PIN. A reload permits one more attempt.
    case loginBlocked(String)
    /// The file, module, token or key does not exist.
    case notFound(String)
    /// More than one token or key matches the URI.
    case ambiguous(String)
    /// The key exists but must not be used: another curve, not a private key, readable by others, not protected, …
    case unfit(String)

    // Errors while signing.

    /// The key's queue is full; a retry in a moment may succeed.
    case busy
    case cancelled
    case closed
    /// The backend does not respond now. The gateway retries in the background.
    case unavailable(String)
    /// The backend responded, but without a signature.
    case failed(String)

    /// Whether a login was refused or is blocked.
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
        case .cancelled: "The request for the signature was cancelled."
        case .closed: "The key's backend has been closed."
        }
    }
}
