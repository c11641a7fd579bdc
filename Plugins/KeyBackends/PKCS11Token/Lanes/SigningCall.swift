internal import PKCS11
internal import SigningKit

/// Signs a job on the lane's own thread.
enum SigningCall {
    /// - Parameter probe: has another key sign on the same session.
    static func sign(
        _ job: Job, with signer: Signer, probe: (Signer, TokenKey) -> SessionProbe
    ) -> LanePool.Outcome {
        // The job waited while the key fell ill.
        if !job.isTrial, let error = job.key.illnessError {
            return LanePool.Outcome(job: job, answer: .failure(error))
        }
        do throws(SigningFault) {
            let signature = try job.key.sign(job.digest, with: signer)
            guard let signature else {
                let sentence = "The token gave a signature that is not 64 bytes long, as one over P-256 is."
                return LanePool.Outcome(job: job, answer: .failure(.failed(sentence)))
            }
            return LanePool.Outcome(job: job, answer: .success(signature))
        } catch {
            let failure = error.whileSigning(with: job.key.name)
            var outcome = LanePool.Outcome(job: job, answer: .failure(failure))
            guard error.endsSession else { return outcome }
            guard case .token(let fault) = error else {
                // The PIN for this signature was refused: a second attempt would show it again.
                outcome.sessionFault = failure.description
                return outcome
            }
            judge(&outcome, fault, failure, probe(signer, job.key), signer.session)
            return outcome
        }
    }

    /// The answer of the token does not tell whether the key, the session or the token is ill.
    private static func judge(
        _ outcome: inout LanePool.Outcome, _ fault: PKCS11Error, _ failure: KeyError, _ probe: SessionProbe,
        _ session: Session
    ) {
        let key = outcome.job.key
        let isLast = outcome.job.isRetry
        outcome.mustRetry = !isLast
        switch probe {
        case .signed:
            guard isLast else { return }
            // A handle that is no longer valid is not chance.
            if fault.returnValue.recovery == .handle { key.fellIll(failure) } else { key.failed(failure) }
        case .failed(let error):
            outcome.sessionFault = failure.description
            if error.returnValue == .operationActive, fault.returnValue != .operationActive {
                // The key left an operation behind that nothing ends but the end of its session. On another session it
                // would do the same.
                key.fellIll(failure)
                outcome.mustRetry = false
            }
        case .othersAskForPIN:
            let isGood = fault.leavesSession(session)
            if !isGood { outcome.sessionFault = failure.description }
            guard isLast, !(key.asksForEachSignature && fault.namesSession) else { return }
            if isGood, !key.asksForEachSignature, fault.returnValue.recovery != .handle {
                key.failed(failure)
            } else {
                // Each attempt costs a session or a login.
                key.fellIll(failure)
            }
        case .noOtherKey:
            // Once, because single failures are chance. Then the session is as good as its only key.
            if isLast || !fault.leavesSession(session) { outcome.sessionFault = failure.description }
            // A login for each attempt is too many.
            if isLast, key.asksForEachSignature, !fault.namesSession { key.fellIll(failure) }
        }
    }
}

extension PKCS11Error {
    /// Whether the answer says that it is not the key's fault.
    var namesSession: Bool {
        switch returnValue.recovery {
        case .session, .login, .slot, .module: true
        case .never, .handle, .person, .unknown: false
        }
    }

    /// Whether the session may be good although the key failed on it: the answer does not name the session, no operation is
    /// left open, and the session answers that the user is logged in.
    func leavesSession(_ session: Session) -> Bool {
        guard function == .signInit || function == .sign, returnValue != .bufferTooSmall else { return false }
        switch returnValue.recovery {
        case .unknown, .handle: return (try? session.isLoggedIn()) == true
        case .never, .session, .login, .slot, .module, .person: return false
        }
    }
}
