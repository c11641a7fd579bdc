import ArgumentParser
import Crypto
import SignatureExplanation
import Signing
import SigningKit

enum VerifyConfiguredKeys {
    /// Opens every key, because a fingerprint cannot verify. Keys that cannot be opened are reported and left out.
    static func read(path: String) async throws -> [CandidateKey] {
        LogSetup.bootstrapQuietly()
        let gateway = ConfigurationSnapshot(try ConfigurationOption.load(path))
        await gateway.ring.openMissing()
        let keys = gateway.ring.handles.compactMap { handle -> CandidateKey? in
            guard let publicKey = handle.publicKey else {
                let reason = handle.state.reason ?? "It cannot be opened."
                StandardError.print("warning: the key \(handle.settings.keyID) is left out: \(reason)")
                return nil
            }
            return CandidateKey(keyID: handle.settings.keyID, label: path, publicKey: publicKey)
        }
        await gateway.ring.close()
        guard !keys.isEmpty else { throw ValidationError("No key of \(path) can be opened; see privyseal check.") }
        return keys
    }
}
