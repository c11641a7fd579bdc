internal import PKCS11
internal import SigningKit

/// Signs a job on the lane's own thread.
enum SigningCall {
    /// - Parameter probe: has another key sign on the same session.
    static func sign(
        _ job: Job, with signer: Signer, probe: (Signer, TokenKey) -> SessionProbe
    ) -> LanePool.Outcome {
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
            judge(&outcome, fault, failure, probe(signer, job.key))
            return outcome
        }
    }

    /// The answer of the token does not tell whether the key, the session or the token is ill.
    private static func judge(
        _ outcome: inout LanePool.Outcome, _ fault: PKCS11Error, _ failure: KeyError, _ probe: SessionProbe
    ) {
        let key = outcome.job.key
        // A key that was ill before has had its second attempt.
        let isLast = outcome.job.isRetry || key.isIll
        switch probe {
        case .signed:
            if isLast { key.fellIll(failure) } else { outcome.mustRetry = true }
        case .failed(let error):
            outcome.sessionFault = failure.description
            if error.returnValue == .operationActive, fault.returnValue != .operationActive {
                // The key left an operation behind that nothing ends but the end of its session. On another session it
                // would do the same.
                key.fellIll(failure)
            } else {
                outcome.mustRetry = !isLast
            }
        case .noOtherKey:
            outcome.sessionFault = failure.description
            // Without other keys a session is as good as its only key; but a login for each attempt is too many.
            if isLast, key.asksForEachSignature { key.fellIll(failure) }
            outcome.mustRetry = !isLast
        }
    }
}
