import Crypto
import SigningKit

/// Deletes imported key material at once, and schedules the KMS key for deletion. KMS deletes no key without a waiting
/// time.
struct KMSKeyDestruction: Sendable {
    let keys: KMSKeys
    let name: KMSKeyName
    let fingerprint: PublicKeyFingerprint?
    let isResumed: Bool
    let tell: @Sendable (String) -> Void

    func run() async throws(KeyError) -> DestroyedKey {
        guard let metadata = try await keys.existing(name) else {
            guard isResumed else {
                throw .notFound(
                    "AWS KMS has no key \(name.text) in this region and account. Nothing was destroyed: check the URI.")
            }
            return DestroyedKey(fingerprint: fingerprint, destroyedPrivate: 0, destroyedPublic: 0, evidence: [:])
        }
        let found = try await check(metadata)
        let hadMaterial = metadata.hasMaterial
        let deletesMaterial = metadata.origin == "EXTERNAL" && hadMaterial
        if deletesMaterial {
            try await perform(DeleteImportedKeyMaterial(keyID: metadata.keyID), "delete the key material")
            tell("The imported key material is deleted from this region of AWS KMS.")
        }
        if !metadata.isScheduledForDeletion {
            let schedule = ScheduleKeyDeletion(keyID: metadata.keyID, window: keys.location.settings.deletionDays)
            do throws(KeyError) { try await perform(schedule, "schedule the deletion") } catch {
                throw deletesMaterial ? error.duringDestruction : error
            }
        }
        let after: KMSKeyMetadata
        do throws(KeyError) { after = try await settled(metadata) } catch { throw error.duringDestruction }
        if after.isMultiRegion == true {
            tell("It is a multi-Region key: its replicas in other regions still have the key. Destroy them, too.")
        }
        return DestroyedKey(
            fingerprint: found, destroyedPrivate: hadMaterial ? 1 : 0, destroyedPublic: 0,
            remainder: remainder(after), evidence: after.evidence)
    }

    /// Throws if it is another key than the expected one.
    private func check(_ metadata: KMSKeyMetadata) async throws(KeyError) -> PublicKeyFingerprint? {
        guard metadata.hasMaterial else {
            // Its public key is no longer visible.
            guard isResumed || metadata.keyState == "PendingImport" else {
                throw .unfit("The KMS key \(name.text) is already scheduled for deletion. Nothing was changed.")
            }
            return fingerprint
        }
        guard metadata.signsWithP256 else {
            throw .unfit("The KMS key \(name.text) is no P-256 signing key. Nothing was changed: check the URI.")
        }
        let found = PublicKeyFingerprint(of: try await keys.publicKey(metadata, name))
        guard fingerprint == nil || fingerprint == found else {
            throw .unfit(
                "The KMS key \(name.text) has the fingerprint \(found), but the key to destroy has another one. Nothing was "
                    + "changed.")
        }
        return found
    }

    private func perform<Call: KMSCall>(_ call: Call, _ step: String) async throws(KeyError) {
        do throws(KMSFailure) { _ = try await keys.call(call) } catch {
            throw error.keyError("\(step) of \(name.text)", name.text)
        }
    }

    /// The metadata after the change, once KMS shows it.
    private func settled(_ metadata: KMSKeyMetadata) async throws(KeyError) -> KMSKeyMetadata {
        for _ in 0..<20 {
            guard let now = try await keys.existing(name), now.arn == metadata.arn else { return metadata }
            if now.isScheduledForDeletion { return now }
            do { try await Task.sleep(for: .milliseconds(250)) } catch { throw .cancelled }
        }
        throw .failed("AWS KMS does not show that \(name.text) is scheduled for deletion. Run the same command again.")
    }

    private func remainder(_ metadata: KMSKeyMetadata) -> String {
        let date = KMSKeyMetadata.text(metadata.deletionDate) ?? "the end of the waiting time"
        return metadata.origin == "EXTERNAL"
            ? "AWS KMS has its entry without the private key until \(date)."
            : "AWS KMS deletes it at \(date). Until then it cannot sign, but an administrator of the account can cancel the "
                + "deletion (aws kms cancel-key-deletion)."
    }
}
