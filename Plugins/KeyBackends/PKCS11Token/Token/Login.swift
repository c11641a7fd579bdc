internal import PKCS11
internal import SigningKit

/// The one login that all sessions of a process share.
enum Login {
    /// Logs in unless the token wants none, or has one already.
    ///
    /// On a backend's own thread: it may wait for another backend's login.
    ///
    /// - Throws: `loginRefused` without a call when the PIN was refused before or the token's flags warn of a lock.
    static func ensure(_ session: Session, _ token: TokenInfo, pin: Secret?) throws(KeyError) {
        // Two backends that open one token log in one after the other; the second finds that it is done.
        try TokenTurns.alone(with: token) { () throws(KeyError) in try ensureAlone(session, token, pin) }
    }

    private static func ensureAlone(_ session: Session, _ token: TokenInfo, _ pin: Secret?) throws(KeyError) {
        guard token.flags.contains(.loginRequired) else { return }
        do throws(PKCS11Error) {
            if try session.isLoggedIn() { return }
        } catch {
            throw error.whileOpening(token.name)
        }
        let pin = token.flags.contains(.protectedAuthenticationPath) ? nil : pin
        try check(pin, token)
        do throws(PKCS11Error) {
            if let pin {
                try pin.withBytes { bytes throws(PKCS11Error) in try session.login(pin: bytes) }
            } else {
                try session.login(pin: nil)
            }
        } catch {
            try judge(error, pin, token)
        }
    }

    /// What can be known without showing the PIN.
    static func check(_ pin: Secret?, _ token: TokenInfo) throws(KeyError) {
        if pin == nil, !token.flags.contains(.protectedAuthenticationPath) {
            throw .secretUnavailable(
                "The token \(token.name) wants a PIN; say where it is with pin-source=file:/… or "
                    + "pin-source=credential:NAME in the key's URI.")
        }
        if RefusedPINs.contains(pin, for: token) { throw refusedBefore(token) }
        if token.flags.contains(.userPINLocked) {
            throw .loginRefused(
                "The PIN of the token \(token.name) is locked, so no login is tried. Unlock it with the security "
                    + "officer's PIN.")
        }
        if token.flags.contains(.userPINFinalTry) {
            throw .loginRefused(
                "One more wrong PIN would lock the token \(token.name), so no login is tried. Log in once with another "
                    + "tool to reset its counter.")
        }
    }

    private static func judge(_ error: PKCS11Error, _ pin: Secret?, _ token: TokenInfo) throws(KeyError) {
        if error.returnValue == .userAlreadyLoggedIn { return }
        guard error.returnValue.refusesPIN else { throw error.whileOpening(token.name) }
        RefusedPINs.insert(pin, for: token)
        throw refusal(error.returnValue, token)
    }

    static func refusedBefore(_ token: TokenInfo) -> KeyError {
        .loginRefused(
            "The token \(token.name) refused this PIN before, so it is not tried again. Correct the PIN, then reload "
                + "or restart the gateway.")
    }

    static func refusal(_ answer: ReturnValue, _ token: TokenInfo) -> KeyError {
        .loginRefused(
            "The token \(token.name) refused the PIN (\(answer)). It is not tried again: correct the PIN, then reload "
                + "or restart the gateway.")
    }
}

extension TokenInfo {
    /// For people.
    var name: String { "\"\(label)\"" }

    /// The same for a token wherever it is plugged in.
    var identity: String { [manufacturer, model, serial, label].joined(separator: "/") }
}
