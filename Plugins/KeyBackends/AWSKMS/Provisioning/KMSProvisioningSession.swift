import Crypto
import CryptoExtras
import SigningKit

/// Makes, imports and destroys keys in one region of AWS KMS.
struct KMSProvisioningSession: ProvisioningSession {
    let backend: AWSKMSBackend

    private var keys: KMSKeys { KMSKeys(location: backend.location) }

    var location: ProvisioningLocation {
        let client = backend.location.client
        return ProvisioningLocation(
            name: "AWS KMS in \(client.region.name)", serial: client.endpoint.authority, model: "AWS KMS",
            evidence: ["region": client.region.name, "endpoint": client.endpoint.origin])
    }

    /// - Parameter allowsClear: not used, because the key never travels in the clear.
    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        try await KMSKeyImport(keys: keys, name: try KMSAddress.key(selector), tell: tell)
            .run(key, isResumed: isResumed)
    }

    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        let name = try KMSAddress.key(selector)
        if let existing = try await keys.existing(name) {
            guard isResumed, existing.origin == "AWS_KMS", existing.signsWithP256, existing.keyState == "Enabled" else {
                throw .unfit(
                    "The KMS key \(name.text) exists already. Nothing was changed: give another alias, or destroy it with "
                        + "privyseal keys destroy before.")
            }
            tell("AWS KMS has the key from an interrupted generation.")
            return try await keys.proven(existing, name, nil, .found, tell)
        }
        let made = try await keys.make(name, origin: "AWS_KMS")
        tell("AWS KMS made the key \(made.keyID).")
        return try await keys.proven(made, name, nil, .generated, tell)
    }

    /// Makes a KMS key that waits for its material, and gives its wrapping key. KMS accepts that for 24 hours; another
    /// call replaces it.
    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey {
        let name = try KMSAddress.key(selector)
        let metadata = try await keys.waiting(try await keys.existing(name), name) { _ in }
        let (parameters, wrappingKey) = try await keys.importParameters(metadata, name, .oaepAndKeyWrap)
        let der = Array(wrappingKey.derRepresentation)
        guard (0..<253_402_300_799).contains(parameters.validTo) else {
            throw .failed("AWS KMS gave a wrapping key with an end of validity that is no time.")
        }
        let note = ImportTokenNote(
            wrappingKey: PublicKeyFingerprint(ofDER: der), token: parameters.importToken,
            validTo: Timestamp(milliseconds: Int64(parameters.validTo * 1000)))
        guard let description = note.description else {
            throw .failed("AWS KMS gave an import token that does not fit into the key's description.")
        }
        do throws(KMSFailure) {
            _ = try await keys.call(
                UpdateKeyDescription(keyID: metadata.keyID, description: description), isNew: true)
        } catch {
            throw error.keyError("store the import token in the description", name.text)
        }
        return GeneratedWrappingKey(der: der, hash: .sha256)
    }

    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey {
        try await KMSKeyDestruction(
            keys: keys, name: try KMSAddress.key(selector), fingerprint: fingerprint, isResumed: isResumed, tell: tell
        ).run()
    }

    func close() async { await backend.close() }
}
