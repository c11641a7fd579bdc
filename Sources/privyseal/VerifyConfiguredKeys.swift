import ArgumentParser
import SignatureExplanation

// TO BE WIRED by the composition root: open the configuration at `path`, and return the public key of every key that it
// names: `CandidateKey(keyID: <key ID>, label: path, publicKey: <from the backend or the configuration>)`. Errors that are
// the caller's fault as `ValidationError`, so that the exit status is 64 and never 1.
func configuredKeys(path: String) async throws -> [CandidateKey] {
    throw ValidationError("--config is not available yet; give the public key with --key.")
}
