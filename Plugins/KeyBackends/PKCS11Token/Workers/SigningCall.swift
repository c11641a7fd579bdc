internal import PKCS11
internal import SigningKit

/// Signs a job on the thread of a signing worker.
enum SigningCall {
    static func sign(_ job: Job, with signer: Signer) -> WorkerPool.Outcome {
        // The key began to fail while the job waited.
        if !job.isTrial, let error = job.key.failurePauseError {
            return WorkerPool.Outcome(job: job, answer: .failure(error))
        }
        do throws(SigningFault) {
            let signature = try job.key.sign(job.digest, with: signer)
            guard let signature else {
                let sentence = "The token returned a signature that is not 64 bytes long, as P-256 requires."
                return WorkerPool.Outcome(job: job, answer: .failure(.failed(sentence)))
            }
            return WorkerPool.Outcome(job: job, answer: .success(signature))
        } catch {
            let failure = error.whileSigning(with: job.key.name)
            var outcome = WorkerPool.Outcome(job: job, answer: .failure(failure))
            guard error.endsSession else { return outcome }
            guard case .token(let fault) = error else {
                // The token refused the PIN for this signature: a second attempt would send it again.
                outcome.sessionFault = failure.description
                return outcome
            }
            let connection = job.key.pool.backend?.connection
            let probe = connection?.probe(signer, except: job.key) ?? .noOtherKey
            classify(&outcome, fault, failure, probe, signer.session)
            return outcome
        }
    }

    /// Decides how to continue: the return value does not tell whether the key, the session or the token fails.
    private static func classify(
        _ outcome: inout WorkerPool.Outcome, _ fault: PKCS11Error, _ failure: KeyError, _ probe: SessionProbe,
        _ session: Session
    ) {
        let key = outcome.job.key
        let isLast = outcome.job.isRetry
        outcome.mustRetry = !isLast
        switch probe {
        case .signed:
            guard isLast else { return }
            // An invalid handle is not a transient error.
            if fault.returnValue.recovery == .handle { key.beganToFail(failure) } else { key.failed(failure) }
        case .failed(let error):
            outcome.sessionFault = failure.description
            if error.returnValue == .operationActive, fault.returnValue != .operationActive {
                // The key left an operation active, which ends only with the session. Another session would not help.
                key.beganToFail(failure)
                outcome.mustRetry = false
            }
        case .othersAskForPIN:
            let isGood = fault.leavesSession(session)
            if !isGood { outcome.sessionFault = failure.description }
            guard isLast, !(key.requiresContextLogin && fault.namesSession) else { return }
            if isGood, !key.requiresContextLogin, fault.returnValue.recovery != .handle {
                key.failed(failure)
            } else {
                // Each attempt costs a session or a login.
                key.beganToFail(failure)
            }
        case .noOtherKey:
            // The first failure may be transient. After the second one, the session is as unusable as its only key.
            if isLast || !fault.leavesSession(session) { outcome.sessionFault = failure.description }
            // A login for each attempt is too many.
            if isLast, key.requiresContextLogin, !fault.namesSession { key.beganToFail(failure) }
        }
    }
}

extension PKCS11Error {
    /// Whether the return value shows that the key is not at fault.
    var namesSession: Bool {
        switch returnValue.recovery {
        case .session, .login, .slot, .module: true
        case .never, .handle, .person, .unknown: false
        }
    }

    /// Whether the session may be good although the key failed in it: the return value does not name the session, no
    /// operation is active, and the session reports that the user is logged in.
    func leavesSession(_ session: Session) -> Bool {
        guard function == .signInit || function == .sign, returnValue != .bufferTooSmall else { return false }
        switch returnValue.recovery {
        case .unknown, .handle: return (try? session.isLoggedIn()) == true
        case .never, .session, .login, .slot, .module, .person: return false
        }
    }
}

/// The result of a signature with another key, in a session in which a key failed.
enum SessionProbe: Sendable {
    /// The other key signed: the session is good, and the first key fails.
    case signed
    case failed(PKCS11Error)
    case noOtherKey
    /// All other keys require a PIN for each signature, so none was tried.
    case othersAskForPIN
}

/// Why a key made no signature.
enum SigningFault: Error {
    case token(PKCS11Error)
    /// The token refused the PIN for the signature. If `by` is nil, the token was not asked: its PIN was refused
    /// before, or the key is absent.
    case refused(KeyError, by: PKCS11Error?)

    /// A refusal by the token leaves an operation active, so the session is unusable. A refusal without a call does
    /// not.
    var endsSession: Bool {
        switch self {
        case .token(let error): error.endsSession
        case .refused(_, let answer): answer != nil
        }
    }

    func whileSigning(with key: String) -> KeyError {
        switch self {
        case .token(let error): error.whileSigning(with: key)
        case .refused(let error, _): error
        }
    }
}
