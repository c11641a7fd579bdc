public import SigningKit

extension AWSKMSBackend: KeyInspecting {
    /// Reads the key's metadata, and its public key if it has one. KMS has no call that reveals a private key, so there
    /// is no attempt to extract it.
    ///
    /// A key without material and one that is scheduled for deletion count as no key: neither can sign.
    public func inspect(
        _ selector: KeySelector, provenance: KeyProvenance
    ) async throws(KeyError) -> KeyInspection {
        let name = try KMSAddress.key(selector)
        let deadline = ContinuousClock.now + KMSSettings.managementTime
        var metadata: KMSKeyMetadata?
        do throws(KeyError) { metadata = try await location.describe(name, by: deadline) } catch {
            guard case .notFound = error else { throw error }
        }
        location.forgetFailure(selector)
        let checks = KMSKeyChecks(provenance: provenance, described: .success(metadata)).all
        guard let metadata else {
            return KeyInspection(
                custody: .service, protection: protection, matches: 0, facts: facts(nil), checks: checks)
        }
        var fingerprint: PublicKeyFingerprint?
        if metadata.hasMaterial, metadata.signsWithP256 {
            fingerprint = PublicKeyFingerprint(of: try await location.publicKey(metadata, name, by: deadline))
        }
        return KeyInspection(
            custody: .service, protection: protection, matches: metadata.hasMaterial ? 1 : 0, fingerprint: fingerprint,
            facts: facts(metadata), evidence: metadata.evidence, checks: checks)
    }

    public static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck] {
        KMSKeyChecks(provenance: provenance, described: .failure(error)).all
    }

    private var protection: KeyInspection.Protection {
        let client = location.client
        guard location.isAWS else {
            return .init(
                .unknown, "a key service at \(client.endpoint.origin)",
                detail: "The endpoint is not the one of AWS for this region, so nothing is known about its hardware.")
        }
        return .init(
            .hardware, "AWS KMS in \(client.region.name)",
            detail: "AWS states that KMS keeps keys in its hardware security modules. No client can verify that.")
    }

    private func facts(_ metadata: KMSKeyMetadata?) -> [KeyInspection.Fact] {
        let client = location.client
        return [.init("Region", client.region.name), .init("Endpoint", client.endpoint.origin)]
            + (metadata?.attributes ?? [])
    }
}

extension KMSKeyMetadata {
    /// The members that describe the key, by their names in the KMS API.
    var attributes: [KeyInspection.Fact] {
        let members: [(String, String?)] = [
            ("Arn", arn), ("KeyState", keyState), ("Origin", origin), ("KeySpec", keySpec), ("KeyUsage", keyUsage),
            ("KeyManager", keyManager), ("MultiRegion", isMultiRegion.map { "\($0)" }),
            ("CustomKeyStoreId", customKeyStoreID), ("ExpirationModel", expirationModel),
            ("CreationDate", Self.text(creationDate)), ("DeletionDate", Self.text(deletionDate)),
            ("ValidTo", Self.text(validTo)),
        ]
        return members.compactMap { name, value in value.map { .init(name, AWSText.excerpt($0)) } }
    }

    var evidence: [String: String] {
        Dictionary(attributes.map { ($0.name, $0.value) }) { first, _ in first }
    }
}
