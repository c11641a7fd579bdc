import Crypto
import CryptoExtras
import Encodings
import SigningKit

/// Calls that several kinds of provisioning share.
struct KMSKeys: Sendable {
    let location: KMSLocation

    /// The description of a key that this program made.
    static let description = "PrivySeal signing key"
    /// AWS KMS is eventually consistent: a new key or alias may be unknown for some seconds (AWS KMS Developer Guide,
    /// "Eventual consistency").
    private static let settlingTime = Duration.seconds(10)
    private static let settlingPause = Duration.milliseconds(250)

    /// - Parameter isNew: whether the key may be too new for KMS to know it.
    func call<Call: KMSCall>(_ call: Call, isNew: Bool = false) async throws(KMSFailure) -> Call.Answer {
        let end = ContinuousClock.now + Self.settlingTime
        while true {
            do throws(KMSFailure) {
                return try await location.client.call(call, by: .now + KMSSettings.managementTime)
            } catch {
                guard isNew, error.isRefusal("NotFoundException"), .now < end else { throw error }
                do { try await Task.sleep(for: Self.settlingPause) } catch { throw .cancelled }
            }
        }
    }

    /// Nil if there is no such key.
    func existing(_ name: KMSKeyName) async throws(KeyError) -> KMSKeyMetadata? {
        do throws(KeyError) {
            return try await location.describe(name, by: .now + KMSSettings.managementTime)
        } catch {
            guard case .notFound = error else { throw error }
            return nil
        }
    }

    /// A key that waits for its material: the existing one, or a new one with the alias.
    func waiting(
        _ existing: KMSKeyMetadata?, _ name: KMSKeyName, _ tell: @Sendable (String) -> Void
    ) async throws(KeyError) -> KMSKeyMetadata {
        guard let existing else {
            let made = try await make(name, origin: "EXTERNAL")
            tell("AWS KMS made the key \(made.keyID), which has no key material yet.")
            return made
        }
        guard existing.origin == "EXTERNAL", existing.keyState == "PendingImport", existing.signsWithP256 else {
            throw .unfit(
                "The KMS key \(name.text) does not wait for key material of a P-256 signing key: its origin is "
                    + "\(AWSText.excerpt(existing.origin ?? "unknown")), its state \(AWSText.excerpt(existing.keyState)), its "
                    + "spec \(AWSText.excerpt(existing.keySpec ?? "unknown")). Nothing was changed: give another alias."
            )
        }
        return existing
    }

    /// Makes a key and its alias. If the alias fails, the key is scheduled for deletion.
    ///
    /// - Parameter origin: see `CreateKey`.
    func make(_ name: KMSKeyName, origin: String) async throws(KeyError) -> KMSKeyMetadata {
        guard let alias = name.alias, name.account == nil else {
            throw .invalidURI(
                "a new key needs an alias, because AWS chooses its ID: give a URI such as "
                    + "awskms:\(location.client.region.name)/alias/appstore")
        }
        let metadata: KMSKeyMetadata
        do throws(KMSFailure) {
            metadata = try await call(CreateKey(origin: origin, description: Self.description)).metadata
        } catch {
            let reason = error.keyError("make a key", name.text)
            switch error {
            case .unavailable, .malformed, .cancelled:
                throw .unavailable(
                    "\(reason) It may have made one without an alias: look for a new key with the description "
                        + "\(Self.description), and schedule its deletion.")
            case .throttled, .busy, .credentialsRefused, .refused, .noCredentials: throw reason
            }
        }
        do throws(KMSFailure) {
            _ = try await call(CreateAlias(alias: alias, keyID: metadata.keyID), isNew: true)
        } catch {
            let reason = error.keyError("make the alias \(alias)", name.text)
            do throws(KMSFailure) {
                _ = try await call(ScheduleKeyDeletion(keyID: metadata.keyID, window: 7), isNew: true)
            } catch {
                throw .failed("\(reason) The new key \(metadata.arn) is left over: schedule its deletion.")
            }
            throw reason
        }
        return metadata
    }

    func importParameters(
        _ metadata: KMSKeyMetadata, _ name: KMSKeyName, _ algorithm: GetParametersForImport.WrappingAlgorithm
    ) async throws(KeyError) -> (GetParametersForImport.Answer, _RSA.Encryption.PublicKey) {
        let answer: GetParametersForImport.Answer
        do throws(KMSFailure) {
            answer = try await call(GetParametersForImport(keyID: metadata.keyID, algorithm: algorithm), isNew: true)
        } catch {
            throw error.keyError("give a wrapping key", name.text)
        }
        guard answer.keyID == metadata.arn || answer.keyID == metadata.keyID,
            let der = Base64.standard.decode(answer.publicKey.utf8),
            let key = try? _RSA.Encryption.PublicKey(derRepresentation: der), key.keySizeInBits >= 2048
        else {
            throw .failed("AWS KMS gave no RSA public key of 2048 bits or more for the key \(name.text).")
        }
        return (answer, key)
    }

    func publicKey(_ metadata: KMSKeyMetadata, _ name: KMSKeyName) async throws(KeyError) -> P256.Signing.PublicKey {
        try await location.publicKey(metadata, name, by: .now + KMSSettings.managementTime)
    }

    /// Reads a key back, and lets it sign a proof of possession.
    ///
    /// - Parameter expected: nil for a key that KMS generated.
    /// - Throws: `unfit` if the key is not as expected.
    func proven(
        _ metadata: KMSKeyMetadata, _ name: KMSKeyName, _ expected: P256.Signing.PublicKey?,
        _ method: ProvisionedKey.Method, _ tell: @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        let enabled = try await settled(metadata, name)
        let publicKey = try await publicKey(enabled, name)
        guard expected.map({ $0.rawRepresentation == publicKey.rawRepresentation }) ?? true else {
            throw .unfit("The KMS key \(name.text) has another public key than the expected one.")
        }
        let key = KMSKey(publicKey, arn: enabled.arn, name: name.text, in: location)
        let digest = ProofOfPossession().digest
        guard publicKey.verifies(try await key.sign(digest), of: digest) else {
            throw .unfit("The signature of the KMS key \(name.text) does not verify with its public key.")
        }
        tell("Checked: a P-256 key for signatures only; its proof of possession is valid.")
        return ProvisionedKey(
            publicKey: publicKey, method: method, summary: method.summary, attributes: enabled.attributes,
            evidence: enabled.evidence)
    }

    /// The metadata of a new key as soon as it can sign.
    private func settled(_ metadata: KMSKeyMetadata, _ name: KMSKeyName) async throws(KeyError) -> KMSKeyMetadata {
        let end = ContinuousClock.now + Self.settlingTime
        while true {
            let now: KMSKeyMetadata
            do throws(KMSFailure) {
                now = try await call(DescribeKey(keyID: metadata.arn), isNew: true).metadata
            } catch {
                throw error.keyError("describe the key \(name.text)", name.text)
            }
            guard now.arn == metadata.arn else { throw .failed("AWS KMS described another key than \(metadata.arn).") }
            if now.keyState == "Enabled" {
                try now.requireFit(name.text)
                return now
            }
            guard .now < end else {
                throw .unavailable(
                    "The KMS key \(name.text) is in the state \(AWSText.excerpt(now.keyState)) and not Enabled yet. Run the "
                        + "same command again.")
            }
            do { try await Task.sleep(for: Self.settlingPause) } catch { throw .cancelled }
        }
    }
}

extension ProvisionedKey.Method {
    fileprivate var summary: String {
        switch self {
        case .unwrapped: "It was encrypted on this machine for a wrapping key of AWS KMS, and imported."
        case .unwrappedPackage: "AWS KMS unwrapped it; it was never in the clear on this machine."
        case .created: "It was imported."
        case .generated: "AWS KMS made it."
        case .found: "It was there from an interrupted run."
        }
    }
}
