import SigningKit

/// The steps that the examinations of a token and of a legacy signature share.
struct Examination {
    /// The mistakes that make a signature verify, and the index of the key that verifies it.
    struct Hit {
        let findings: [Finding]
        let key: Int
    }

    /// The length of a signing input, in bytes, up to which the search has all its verifications.
    private static let usualLength = 4096

    let keys: [CandidateKey]
    let maximumVerifications: Int
    /// The feature's ID, or `jws`.
    let kind: String
    /// The key ID that the signature names, and the field that names it.
    let keyID: String?
    let keyIDField: String
    /// The signature; nil if it cannot be read.
    let reading: SignatureReading?
    let rendering: SigningInputRendering?
    /// The findings about the form.
    let form: [Finding]
    /// The profile of a service token; nil for a signature that StoreKit reads.
    var profile: ServiceProfile?

    /// - Parameters:
    ///   - signingInput: The expected signing input.
    ///   - search: Searches for the mistakes of a signature that does not verify. Nil to search for none.
    func explanation(of signingInput: [UInt8], search: ((P256Signature, Verifier) -> Hit?)?) -> Explanation {
        let verifier = Verifier(keys, named: keyID, maximum: maximumVerifications)
        func explanation(_ outcome: Explanation.Outcome, _ findings: [Finding], key: Int? = nil) -> Explanation {
            Explanation(
                kind: kind, outcome: outcome, findings: Self.sorted(findings), key: key.map { keys[$0] }, keys: keys,
                signingInput: rendering, verifications: verifier.count)
        }

        guard let reading else { return explanation(search == nil ? .unverified : .unexplained, form) }
        let digest = DigestForm.sha256.apply(signingInput)
        for candidate in reading.candidates {
            guard let key = verifier.key(verifying: candidate, digest) else { continue }
            let proven = reading.findings.map(\.proven) + keyFindings(key)
            let hasError = proven.contains { $0.severity == .error }
            return explanation(hasError ? .explained : .verified, proven + form, key: key)
        }
        guard let search else { return explanation(.unverified, form + reading.findings) }
        // Each verification of the search hashes a text again, so a long text gets fewer of them.
        verifier.maximum /= max(1, signingInput.count / Self.usualLength)
        for candidate in reading.candidates {
            guard let hit = search(candidate, verifier) else { continue }
            let proven = (hit.findings + reading.findings).map(\.proven) + keyFindings(hit.key)
            // Without errors in fields that have a proven finding.
            let form = form.filter { seen in
                seen.severity != .error || seen.field == nil || !hit.findings.contains { $0.field == seen.field }
            }
            return explanation(.explained, proven + form, key: hit.key)
        }
        return explanation(.unexplained, form + reading.findings + [unexplained(verifier)])
    }

    private static func sorted(_ findings: [Finding]) -> [Finding] {
        let seen = findings.filter { $0.evidence == .seen }
        return findings.filter { $0.evidence == .proven }
            + [.error, .warning, .note].flatMap { severity in seen.filter { $0.severity == severity } }
    }

    /// Findings about the ID of the key that verifies the signature.
    private func keyFindings(_ index: Int) -> [Finding] {
        let key = keys[index]
        guard let keyID, key.keyID != keyID else { return [] }
        guard key.keyID != nil else {
            return [
                Finding(
                    .keyIDUnchecked, in: keyIDField,
                    "The key from \(key.label) has no ID, so it is not known whether \(keyID) is its ID in App Store "
                        + "Connect.", severity: .note)
            ]
        }
        let place = keys.contains { $0.keyID == keyID } ? "which is another one" : "which is not one"
        return [
            Finding(
                .keyOther, in: keyIDField,
                "The key \(key.name) made the signature, but the signature names \(keyID), \(place) of the keys."
            ).proven
        ]
    }

    private func unexplained(_ verifier: Verifier) -> Finding {
        guard !keys.isEmpty else { return Finding(.unexplained, "There was no key to verify with.", cure: cure) }
        var message =
            verifier.isExhausted
            ? "The search was cut at its bound of \(verifier.count) verifications; none of the mistakes tried so far "
                + "explains the signature."
            : "None of the known mistakes explains the signature: \(verifier.count) verifications, with "
                + (keys.count == 1 ? "one key." : "\(keys.count) keys.")
        if let keyID, !keys.contains(where: { $0.keyID == keyID }) {
            let ids = keys.compactMap(\.keyID).joined(separator: ", ")
            message +=
                ids.isEmpty
                ? " Whether \(keyID) is among them is not known: the key has no ID."
                : " No key with the ID \(keyID) was given, only \(ids)."
        }
        return Finding(.unexplained, message, cure: cure)
    }

    /// What to check about a service token whose signature has no explanation; nil for the remedy of the code.
    private var cure: String? {
        profile.map {
            "Check in this order: (1) Is this the public key of the private key that signed? Compare fingerprints where "
                + "both are. (2) Is it the right kind of key? A token for \($0.id) needs the \($0.family.rawValue); keys "
                + "for Apple's other services look the same. (3) Are these the bytes that were signed? Log their SHA-256 "
                + "on the signing server and compare it with the one here. (4) Was the token changed on its way?"
        }
    }
}
