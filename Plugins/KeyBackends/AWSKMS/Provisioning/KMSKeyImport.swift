import Crypto
import CryptoExtras
import Encodings
import SigningKit

/// Imports a private key into a KMS key without material, encrypted for KMS.
struct KMSKeyImport: Sendable {
    let keys: KMSKeys
    let name: KMSKeyName
    let tell: @Sendable (String) -> Void

    func run(_ key: IncomingKey, isResumed: Bool) async throws(KeyError) -> ProvisionedKey {
        let existing = try await keys.existing(name)
        if let existing, existing.hasMaterial {
            return try await finish(existing, key.publicKey, isResumed: isResumed)
        }
        let method: ProvisionedKey.Method
        let metadata: KMSKeyMetadata
        switch key {
        case .plain(let material):
            metadata = try await keys.waiting(existing, name, tell)
            try await take(material, metadata)
            method = .unwrapped
        case .wrapped(let package):
            guard let existing else {
                throw .notFound(
                    "AWS KMS has no key \(name.text) in this region and account. A package is for the key that keys "
                        + "wrapping-key made: give the same URI here.")
            }
            metadata = try await keys.waiting(existing, name, tell)
            try await take(package, metadata)
            method = .unwrappedPackage
        }
        tell("AWS KMS decrypted the key and has it now.")
        return try await proven(metadata, key.publicKey, method)
    }

    /// The key that an interrupted import left.
    private func finish(
        _ metadata: KMSKeyMetadata, _ publicKey: P256.Signing.PublicKey, isResumed: Bool
    ) async throws(KeyError) -> ProvisionedKey {
        var isSame = false
        if isResumed, metadata.origin == "EXTERNAL", metadata.signsWithP256 {
            isSame = try await keys.publicKey(metadata, name).rawRepresentation == publicKey.rawRepresentation
        }
        guard isSame else {
            throw .unfit(
                "The KMS key \(name.text) exists already and has key material. Nothing was changed: give another alias, or "
                    + "destroy it with privyseal keys destroy before.")
        }
        tell("AWS KMS has the key from an interrupted import.")
        return try await keys.proven(metadata, name, publicKey, .found, tell)
    }

    private func proven(
        _ metadata: KMSKeyMetadata, _ publicKey: P256.Signing.PublicKey, _ method: ProvisionedKey.Method
    ) async throws(KeyError) -> ProvisionedKey {
        do throws(KeyError) { return try await keys.proven(metadata, name, publicKey, method, tell) } catch {
            guard case .unfit = error else { throw error }
            // The material is another key than the expected one.
            do throws(KMSFailure) {
                _ = try await keys.call(DeleteImportedKeyMaterial(keyID: metadata.keyID))
            } catch let second {
                throw .failed(
                    "\(error) Its material could not be deleted (\(second.keyError("delete it", name.text))): run privyseal "
                        + "keys destroy.")
            }
            throw error
        }
    }

    // MARK: Material

    /// Encrypts the key with RSA-OAEP in this process, and imports it.
    private func take(_ material: KeyMaterial, _ metadata: KMSKeyMetadata) async throws(KeyError) {
        let (parameters, wrappingKey) = try await keys.importParameters(metadata, name, .oaep)
        let encrypted: [UInt8]?
        do {
            encrypted = try material.pkcs8.withBytes { plain in
                Array(try wrappingKey.encrypt(plain, padding: .PKCS1_OAEP_SHA256))
            }
        } catch { encrypted = nil }
        guard let encrypted else { throw .failed("The key could not be encrypted for AWS KMS.") }
        tell("The key is encrypted by RSA-OAEP with SHA-256 for a wrapping key of AWS KMS.")
        try await importMaterial(encrypted, token: parameters.importToken, metadata)
    }

    /// Imports the package of `keys wrap`: RSA-OAEP with SHA-256 around an AES key, which wraps the private key.
    private func take(_ package: WrappedKey, _ metadata: KMSKeyMetadata) async throws(KeyError) {
        guard package.hash == .sha256 else {
            throw .unfit(
                "The package was wrapped by RSA-OAEP with \(package.hash.rawValue), but AWS KMS takes SHA-256. Wrap the key "
                    + "again with the file of privyseal keys wrapping-key, which names the hash.")
        }
        guard let note = metadata.description.flatMap({ ImportTokenNote(description: $0) }) else {
            throw .unfit(
                "The KMS key \(name.text) has no import token in its description. Run privyseal keys wrapping-key for it, "
                    + "and wrap the key again.")
        }
        guard note.wrappingKey == package.wrappingKey else {
            throw .unfit(
                "The package is for the wrapping key \(package.wrappingKey), but the KMS key \(name.text) waits for "
                    + "material under \(note.wrappingKey). Wrap the key for the newest wrapping key.")
        }
        guard Timestamp.now() < note.validTo else {
            throw .unfit(
                "The wrapping key of \(name.text) expired at \(note.validTo.text). AWS KMS accepts it for 24 hours: run "
                    + "privyseal keys wrapping-key, and wrap the key again.")
        }
        try await importMaterial(package.encryptedAESKey + package.encryptedKey, token: note.token, metadata)
        // The token is of no use any more.
        do throws(KMSFailure) {
            _ = try await keys.call(UpdateKeyDescription(keyID: metadata.keyID, description: KMSKeys.description))
        } catch {
            tell("The import token could not be removed from the key's description; it is of no further use.")
        }
    }

    private func importMaterial(_ material: [UInt8], token: String, _ metadata: KMSKeyMetadata) async throws(KeyError) {
        let call = ImportKeyMaterial(
            keyID: metadata.keyID, importToken: token, encryptedKeyMaterial: Base64.standard.text(material))
        do throws(KMSFailure) { _ = try await keys.call(call) } catch {
            guard case .refused(let code, let message) = error, Self.materialCodes.contains(code) else {
                throw error.keyError("import the key material", name.text)
            }
            throw .unfit("AWS KMS did not import the key material of \(name.text) (\(code)): \(message)")
        }
    }

    /// KMS API Reference, the errors of ImportKeyMaterial that concern the material or the token.
    private static let materialCodes: Set<String> = [
        "IncorrectKeyMaterialException", "InvalidCiphertextException", "ExpiredImportTokenException",
        "InvalidImportTokenException", "IncorrectKeyException",
    ]
}
