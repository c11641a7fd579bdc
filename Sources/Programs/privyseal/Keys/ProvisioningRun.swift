import ArgumentParser
import Crypto
import GatewayConfiguration
import KeyLifecycle
import KeyTransport
import SigningKit

/// A provisioning job: `begin` records it before the work on the token, `finish` after it.
struct ProvisioningRun {
    let lifecycleClient: any KeyLifecycleClient
    let job: ProvisioningJob
    /// Whether the job began in an earlier run and did not end.
    let isResumed: Bool

    /// - Returns: nil if the job is only proposed.
    static func begin(
        _ option: KeyLifecycleClientOption, _ order: ProvisioningOrder, _ output: OutputOption
    ) async throws -> ProvisioningRun? {
        let lifecycleClient = try await option.lifecycleClient()
        let open = try await lifecycleClient.overview().jobs.first {
            $0.keyID == order.keyID && $0.issuerID == order.issuerID && $0.action == order.action
        }
        if let open {
            let begun = open.begun.text
            StandardError.print("An earlier run began at \(begun) and did not end; this run continues it.")
        }
        switch try await lifecycleClient.begin(order) {
        case .begun(let job):
            return ProvisioningRun(lifecycleClient: lifecycleClient, job: job, isResumed: open != nil)
        case .proposed(let proposal):
            output.show(
                ProvisioningAnswer.proposed(proposal),
                text:
                    "Proposed as \(proposal.id); nothing was done on the token. Another administrator approves it with "
                    + "privyseal keys approve \(proposal.id) --digest \(proposal.digest); then run the same command "
                    + "again.")
            return nil
        }
    }

    /// - Parameter lackedPublicKey: the public key, if the token does not hold it.
    /// - Returns: the work's result and the key's record, which is nil while the gateway has not seen the key.
    func perform<Result>(
        _ work: () async throws -> Result, evidence: (Result) -> (PublicKeyFingerprint?, [String: String]),
        lackedPublicKey: (Result) -> P256.Signing.PublicKey? = { _ in nil }
    ) async throws -> (Result, KeyLifecycleRecord?) {
        let result: Result
        do { result = try await work() } catch {
            let end = ProvisioningResult(
                isSuccess: false, fingerprint: job.fingerprint, evidence: ["failure": "\(error)"])
            _ = try? await lifecycleClient.finish(job.id, end.shortened())
            throw error
        }
        let (fingerprint, facts) = evidence(result)
        do {
            var end = ProvisioningResult(isSuccess: true, fingerprint: fingerprint, evidence: facts)
            if let publicKey = lackedPublicKey(result) {
                // Print the public key first. Without it the private key is useless, and the register may refuse.
                StandardError.print("The public key, for publicKeyFile:")
                StandardError.print(PEM.text("PUBLIC KEY", Array(publicKey.derRepresentation)))
                end = end.with(publicKey)
            }
            switch try await lifecycleClient.finish(job.id, end.shortened()) {
            case .ended(let record): return (result, record)
            case .waiting: return (result, nil)
            }
        } catch {
            throw StandardError.failure(
                "The work on the token is done, but the register could not be updated: \(error) Run the same command "
                    + "again; it finds the finished work.")
        }
    }
}

extension KeyLifecycleClientOption {
    /// `--issuer`, or the only account.
    func issuer(_ given: String?) async throws -> String {
        if let given { return given }
        let all =
            if let path = admin.configuration {
                try ConfigurationOption.load(path).accounts.map(\.issuerID)
            } else {
                try await lifecycleClient().overview().accounts.map(\.issuerID)
            }
        guard all.count == 1 else {
            throw StandardError.failure(
                "There are \(all.count) accounts; name one with --issuer: \(all.joined(separator: ", ")).",
                status: 64)
        }
        return all[0]
    }
}

/// The evidence that a provisioning job leaves in the register, by name.
enum ProvisioningEvidence {
    static func of(_ key: ProvisionedKey, in location: ProvisioningLocation) -> [String: String] {
        var facts = location.evidence.merging(key.evidence) { _, own in own }
        facts["method"] = key.method.rawValue
        facts["proof"] = "signed"
        for (name, value) in key.attributes { facts[name] = value }
        return facts
    }

    static func of(_ key: DestroyedKey, in location: ProvisioningLocation) -> [String: String] {
        var facts = location.evidence.merging(key.evidence) { _, own in own }
        facts["destroyedPrivateObjects"] = "\(key.destroyedPrivate)"
        facts["destroyedPublicObjects"] = "\(key.destroyedPublic)"
        return facts
    }
}
