internal import PKCS11
internal import SigningKit
internal import Synchronization

/// The one login that all sessions of the process with a token share.
enum Login {
    /// Logs in if necessary. Call this on a backend's own thread only: it blocks during the login of another backend.
    ///
    /// - Throws: `loginRefused` or `loginBlocked` without a call, if the PIN was refused or the flags warn of a lock.
    static func ensure(_ session: Session, _ token: TokenInfo, _ credentials: Credentials) throws(KeyError) {
        try LoginQueue.alone(with: token) { () throws(KeyError) in try ensureAlone(session, token, credentials) }
    }

    private static func ensureAlone(
        _ session: Session, _ token: TokenInfo, _ credentials: Credentials
    ) throws(KeyError) {
        guard token.flags.contains(.loginRequired) else { return }
        if try opening(token.name, { () throws(PKCS11Error) in try session.isLoggedIn() }) { return }
        try check(credentials, token)
        do throws(PKCS11Error) {
            try credentials.withPIN { pin throws(PKCS11Error) in try session.login(as: credentials.user, pin: pin) }
            RefusedPINs.remove(credentials.pin, for: token)
        } catch {
            if error.returnValue == .userAlreadyLoggedIn { return }
            guard let refusal = refusal(error, credentials.pin, token, session, isForSignature: false) else {
                throw error.whileOpening(token.name)
            }
            throw refusal
        }
    }

    /// Makes all checks that are possible without sending the PIN.
    static func check(_ credentials: Credentials, _ token: TokenInfo) throws(KeyError) {
        if credentials.pin == nil, !token.flags.contains(.protectedAuthenticationPath) {
            throw .secretUnavailable(
                "The token \(token.name) needs a PIN; give its source with pin-source=file:/… or "
                    + "pin-source=credential:NAME in the key's URI.")
        }
        if let refusal = refusedBefore(credentials, token) { throw refusal }
        if token.flags.contains(.userPINLocked) {
            throw .loginBlocked(
                "The PIN of the token \(token.name) is locked, so the gateway does not log in. Unlock it with the "
                    + "security officer's PIN, then reload or restart the gateway.")
        }
        if token.flags.contains(.userPINFinalTry) {
            throw .loginBlocked(
                "One more wrong PIN would lock the token \(token.name), so the gateway does not log in. Log in once "
                    + "with another tool to reset its counter, then reload or restart the gateway.")
        }
    }

    /// Records a failed login. Nil if the PIN may be sent again after a pause.
    static func refusal(
        _ error: PKCS11Error, _ pin: Secret?, _ token: TokenInfo, _ session: Session, isForSignature: Bool
    ) -> KeyError? {
        if error.returnValue.leavesPINUnchecked(isForSignature: isForSignature) {
            // If the module was initialised again meanwhile, `C_Login` was not called.
            let wasCalled = session.generation == session.module.generation
            guard wasCalled, !RefusedPINs.mayRetry(pin, afterUncheckedLoginTo: token) else { return nil }
        }
        let isWrong = error.returnValue.refusesPIN
        // A PIN from the token's keypad is never `wrong`: the operator may order another attempt and type it again.
        if isWrong, pin != nil {
            RefusedPINs.insert(pin, .wrong, for: token)
            return .loginRefused(
                "The token \(token.name) refused the PIN (\(error.returnValue)). The gateway does not try it again: "
                    + "correct the PIN and reload. If this PIN is correct now because the token was changed, restart "
                    + "the gateway.")
        }
        RefusedPINs.insert(pin, .unclear, for: token)
        let what = pin == nil ? "the login on its own keypad" : "the PIN"
        return .loginBlocked(
            "The token \(token.name) did not accept \(what): \(error). That may have counted as a failed attempt, so "
                + "the gateway does not try again. Check the token, then reload or restart the gateway for one more "
                + "attempt.")
    }

    /// Nil if the PIN may be sent.
    static func refusedBefore(_ credentials: Credentials, _ token: TokenInfo) -> KeyError? {
        switch RefusedPINs.verdict(credentials, for: token) {
        case .unchecked:
            .unavailable(
                "The token \(token.name) did not accept a login, and did not check the PIN. The gateway tries again "
                    + "after a pause.")
        case .wrong:
            .loginRefused(
                "The token \(token.name) refused this PIN before, so the gateway does not try it again: correct the "
                    + "PIN and reload. If this PIN is correct now because the token was changed, restart the gateway.")
        case .unclear:
            .loginBlocked(
                "The token \(token.name) did not accept an earlier login, so the gateway does not try again. Check the "
                    + "token, then reload or restart the gateway for one more attempt.")
        case nil: nil
        }
    }
}

extension TokenInfo {
    /// For messages.
    var name: String { "\"\(label)\"" }

    /// Identifies the token in any slot.
    var identity: String { [manufacturer, model, serial, label].joined(separator: "/") }
}

/// Serializes the logins to each token, so that the result of one is known before the next.
enum LoginQueue {
    private static let turns = Mutex<[String: TokenLock]>([:])

    private final class TokenLock: Sendable {
        let lock = Mutex<Void>(())
    }

    /// Call this on a backend's own thread only: it blocks during the login of another thread.
    static func alone<Value, Failure: Error>(
        with token: TokenInfo, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = turns.withLock { turns in
            let turn = turns[token.identity] ?? TokenLock()
            turns[token.identity] = turn
            return turn
        }
        return try turn.lock.withLock { _ throws(Failure) in try body() }
    }
}
