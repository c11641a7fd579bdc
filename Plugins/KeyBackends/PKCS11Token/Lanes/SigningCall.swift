internal import PKCS11
internal import SigningKit

/// Signs a job on the lane's own thread.
enum SigningCall {
    static func sign(_ job: Job, with signer: Signer) -> LanePool.Outcome {
        do throws(SigningFault) {
            let signature = try job.key.sign(job.digest, with: signer)
            guard let signature else {
                let sentence = "The token gave a signature that is not 64 bytes long, as one over P-256 is."
                return LanePool.Outcome(job: job, answer: .failure(.failed(sentence)), sessionFault: nil)
            }
            return LanePool.Outcome(job: job, answer: .success(signature), sessionFault: nil)
        } catch {
            let failure = error.whileSigning(with: job.key.name)
            return LanePool.Outcome(
                job: job, answer: .failure(failure), sessionFault: error.endsSession ? failure.description : nil)
        }
    }
}
