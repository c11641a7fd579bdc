import SignerProtocol
import SigningKit

/// Limits of texts that a signer chooses, and that reach the gateway's logs, metrics or answers, in bytes.
enum SignerText {
    static let longest = 500
    /// Of the sentence of an error, which may name a URI.
    static let longestSentence = 2000
}

extension String {
    var shortened: String { shortened(to: SignerText.longest) }
    fileprivate var shortSentence: String { shortened(to: SignerText.longestSentence) }
}

extension KeyBackendEvent {
    /// For the audit log, which keeps it for ever.
    var shortened: KeyBackendEvent {
        KeyBackendEvent(kind, label: label?.shortened, serial: serial?.shortened, reason: reason?.shortened)
    }
}

extension KeyError {
    var shortened: KeyError {
        switch self {
        case .invalidURI(let text): .invalidURI(text.shortSentence)
        case .invalidSetting(let name, let text): .invalidSetting(name: name.shortened, text.shortSentence)
        case .secretUnavailable(let text): .secretUnavailable(text.shortSentence)
        case .loginRefused(let text): .loginRefused(text.shortSentence)
        case .loginBlocked(let text): .loginBlocked(text.shortSentence)
        case .notFound(let text): .notFound(text.shortSentence)
        case .ambiguous(let text): .ambiguous(text.shortSentence)
        case .unfit(let text): .unfit(text.shortSentence)
        case .unavailable(let text): .unavailable(text.shortSentence)
        case .failed(let text): .failed(text.shortSentence)
        case .busy, .cancelled, .closed: self
        }
    }
}

extension KeyBackendReport {
    var shortened: KeyBackendReport {
        let health: KeyBackendHealth =
            switch health {
            case .ready: .ready
            case .degraded(let text): .degraded(text.shortSentence)
            case .unavailable(let text): .unavailable(text.shortSentence)
            }
        let token = token.map {
            Token(
                label: $0.label.shortened, manufacturer: $0.manufacturer.shortened, model: $0.model.shortened,
                serial: $0.serial.shortened, firmware: $0.firmware.shortened)
        }
        return KeyBackendReport(health: health, name: name?.shortened, token: token, pool: pool)
    }
}
