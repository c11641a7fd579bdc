import PKCS11
import SigningKit
import Synchronization

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
        do throws(KeyError) {
            try credentials.memory?.check(token, orderedAt: credentials.reopenOrderedAt)
        } catch {
            // The process that sent it may have ended before the fleet knew.
            guard case .loginRefused = error, let pin = credentials.pin,
                credentials.memory?.tellFleet(of: pin, token) == true
            else { throw error }
        }
        try inTurn(credentials, token) { () throws(KeyError) in try logIn(session, token, credentials) }
    }

    /// Waits for the logins of other gateways of the fleet. Sends no PIN that the token refused from one of them.
    private static func inTurn(
        _ credentials: Credentials, _ token: TokenInfo, _ login: () throws(KeyError) -> Void
    ) throws(KeyError) {
        guard let memory = credentials.memory, let pin = credentials.pin, let turn = try memory.beginTurn(token) else {
            return try login()
        }
        do throws(KeyError) {
            if let refusal = turn.refusedPINs.refusal(of: pin), !refusal.isForgotten {
                throw refusedElsewhere(refusal, token)
            }
            try login()
        } catch {
            let isWrong = RefusedPINs.verdict(credentials, for: token) == .wrong
            memory.end(turn, refused: isWrong ? turn.refusedPINs.hash(of: pin) : nil)
            throw error
        }
        memory.end(turn)
    }

    private static func logIn(
        _ session: Session, _ token: TokenInfo, _ credentials: Credentials
    ) throws(KeyError) {
        try credentials.memory?.note(.begun, token)
        do throws(PKCS11Error) {
            try credentials.withPIN { pin throws(PKCS11Error) in try session.login(as: credentials.user, pin: pin) }
            RefusedPINs.remove(credentials.pin, for: token)
            try? credentials.memory?.note(.accepted, token)
        } catch {
            if error.returnValue == .userAlreadyLoggedIn {
                try? credentials.memory?.note(.notSent, token)
                return
            }
            guard let refusal = refusal(error, credentials, token, session, isForSignature: false) else {
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
        _ error: PKCS11Error, _ credentials: Credentials, _ token: TokenInfo, _ session: Session,
        isForSignature: Bool
    ) -> KeyError? {
        let pin = credentials.pin
        if error.returnValue.leavesPINUnchecked(isForSignature: isForSignature) {
            // If the module was initialised again meanwhile, `C_Login` was not called.
            let wasCalled = session.generation == session.module.generation
            guard wasCalled, !RefusedPINs.mayRetry(pin, afterUncheckedLoginTo: token) else {
                try? credentials.memory?.note(wasCalled ? .unchecked : .notSent, token)
                return nil
            }
        }
        let isWrong = error.returnValue.refusesPIN
        // A PIN from the token's keypad is never `wrong`: the operator may order another attempt and type it again.
        let verdict = isWrong && pin != nil ? RefusedPINs.Verdict.wrong : .unclear
        RefusedPINs.insert(pin, verdict, for: token)
        try? credentials.memory?.note(verdict == .wrong ? .refused : .unclear, token)
        // A login of a session tells the fleet when it ends its turn. A signature has no turn, and must not wait.
        if verdict == .wrong, isForSignature, let pin, let memory = credentials.memory {
            let isStarted = SystemThread.start("privyseal-refused") { memory.tellFleet(of: pin, token) }
            if !isStarted { memory.tellFleet(of: pin, token) }
        }
        if verdict == .wrong { return keyError(.wrong, token, "refused the PIN (\(error.returnValue))") }
        let what = pin == nil ? "the login on its own keypad" : "the PIN"
        return keyError(
            .unclear, token, "did not accept \(what): \(error). That may have counted as a failed attempt")
    }

    /// Nil if the PIN may be sent.
    static func refusedBefore(_ credentials: Credentials, _ token: TokenInfo) -> KeyError? {
        switch RefusedPINs.verdict(credentials, for: token) {
        case .unchecked: keyError(.unchecked, token, "did not accept a login, and did not check the PIN")
        case .wrong: keyError(.wrong, token, "refused this PIN before")
        case .unclear: keyError(.unclear, token, "did not accept an earlier login")
        case nil: nil
        }
    }

    /// - Parameter cause: continues the sentence "The token NAME".
    static func keyError(_ verdict: RefusedPINs.Verdict, _ token: TokenInfo, _ cause: String) -> KeyError {
        switch verdict {
        case .unchecked: .unavailable("The token \(token.name) \(cause). The gateway tries again after a pause.")
        case .wrong:
            .loginRefused(
                "The token \(token.name) \(cause). The gateway does not try it again: correct the PIN and reload. If "
                    + "this PIN is correct now because the token was changed, save the file of the PIN again and reload."
            )
        case .unclear:
            .loginBlocked(
                "The token \(token.name) \(cause), so the gateway does not try again. Check the token, then reload or "
                    + "restart the gateway for one more attempt.")
        }
    }
}

extension Login {
    /// A reload asks the fleet again, which costs no attempt.
    private static func refusedElsewhere(_ refusal: RefusedPINList.Refusal, _ token: TokenInfo) -> KeyError {
        .loginBlocked(
            "The token \(token.name) refused this PIN at \(refusal.time.text) from the gateway \(refusal.gateway). No "
                + "gateway of the fleet sends it again: correct the PIN and reload. If this PIN is correct now because the "
                + "token was changed, run privyseal fleet forget-refused-pins \"\(token.identity)\", and reload.")
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

/// The PIN and the user of a token login, and the time of the operator's order.
struct Credentials: Sendable {
    /// Nil if the configuration names no PIN. The operator then enters it on the token itself.
    let pin: Secret?
    let user: Session.User
    /// When the operator last ordered the token to be opened (`MonotonicTime`). Nil allows no second attempt after an unclear
    /// login.
    let reopenOrderedAt: UInt64?
    /// Nil if the PIN has no file, or no history is kept.
    let memory: LoginMemory?

    init(
        pin: Secret?, user: Session.User = .normal, reopenOrderedAt: UInt64? = nil,
        memory: LoginMemory? = nil
    ) {
        (self.pin, self.user, self.reopenOrderedAt, self.memory) = (pin, user, reopenOrderedAt, memory)
    }

    func withPIN<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let pin else { return try body(nil) }
        return try pin.withBytes { bytes throws(Failure) in try body(bytes) }
    }
}
