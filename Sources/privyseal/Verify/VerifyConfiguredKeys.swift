import ArgumentParser
import Crypto
import SignatureExplanation
import SigningGateway
import SigningKit

/// The public keys of a configuration, to verify with.
enum VerifyConfiguredKeys {
    /// Opens every key, because a fingerprint is not enough to verify with. One that cannot be opened is said and left
    /// out: a signature can still be verified with the others.
    static func read(path: String) async throws -> [CandidateKey] {
        LogSetup.bootstrapQuietly()
        let gateway = GatewayGeneration(try ConfigurationOption.load(path))
        await gateway.ring.openMissing()
        let keys = gateway.ring.slots.compactMap { slot -> CandidateKey? in
            guard let publicKey = slot.publicKey else {
                let reason = slot.state.reason ?? "It cannot be opened."
                StandardError.print("warning: the key \(slot.plan.keyID) is left out: \(reason)")
                return nil
            }
            return CandidateKey(keyID: slot.plan.keyID, label: path, publicKey: publicKey)
        }
        await gateway.ring.close()
        guard !keys.isEmpty else { throw ValidationError("No key of \(path) can be opened; see privyseal check.") }
        return keys
    }
}
