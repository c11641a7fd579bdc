import SigningKit

/// The steps that the examinations of a token and of a legacy signature share.
struct Examination {
    /// The mistakes that make a signature verify, and the index of the key that verifies it.
    struct Hit {
        let findings: [Finding]
        let key: Int
    }

    let examiner: SignatureExaminer
    let kind: SignatureKind
    /// The key ID that the signature names, and the field that names it.
    let keyID: String?
    let keyIDField: String
    /// The signature; nil if it cannot be read.
    let reading: SignatureReading?
    /// The expected signing input.
    let signingInput: [UInt8]
    let rendering: SigningInputRendering?
    /// The findings about the form.
    let form: [Finding]

    private var keys: [CandidateKey] { examiner.keys }

    /// - Parameter search: Searches for the mistakes of a signature that does not verify. Nil to search for none.
    func explanation(_ search: ((P256Signature, KeyRanking, Verifier) -> Hit?)?) -> Explanation {
        let ranking = KeyRanking(keys, named: keyID)
        let verifier = Verifier(keys: keys, maximum: examiner.maximumVerifications)
        func explanation(_ outcome: Explanation.Outcome, _ findings: [Finding], key: Int? = nil) -> Explanation {
            Explanation(
                kind: kind, outcome: outcome, findings: Self.sorted(findings), key: key.map { keys[$0] }, keys: keys,
                signingInput: rendering, verifications: verifier.count)
        }

        guard let reading else { return explanation(search == nil ? .unverified : .unexplained, form) }
        let digest = DigestForm.sha256.apply(signingInput)
        for candidate in reading.candidates {
            guard let key = verifier.key(verifying: candidate, digest, among: ranking.all) else { continue }
            let proven = reading.findings.map { $0.with(.proven) } + keyFindings(key)
            let hasError = proven.contains { $0.severity == .error }
            return explanation(hasError ? .explained : .verified, proven + form, key: key)
        }
        guard let search else { return explanation(.unverified, form + reading.findings) }
        for candidate in reading.candidates {
            guard let hit = search(candidate, ranking, verifier) else { continue }
            let proven = hit.findings + reading.findings.map { $0.with(.proven) } + keyFindings(hit.key)
            return explanation(.explained, proven + form(without: hit.findings), key: hit.key)
        }
        return explanation(.unexplained, form + reading.findings + [unexplained(verifier)])
    }

    private static func sorted(_ findings: [Finding]) -> [Finding] {
        let seen = findings.filter { $0.evidence == .seen }
        return findings.filter { $0.evidence == .proven }
            + [Severity.error, .warning, .note].flatMap { severity in seen.filter { $0.severity == severity } }
    }

    /// The findings about the form, without errors in fields that have a proven finding.
    private func form(without proven: [Finding]) -> [Finding] {
        form.filter { seen in
            seen.severity != .error || seen.field == nil || !proven.contains { $0.field == seen.field }
        }
    }

    /// Findings about the ID of the key that verifies the signature.
    private func keyFindings(_ index: Int) -> [Finding] {
        let key = keys[index]
        guard let keyID else { return [] }
        guard let actual = key.keyID else {
            return [
                Finding(
                    .keyIDUnchecked, .note, field: keyIDField,
                    "The key from \(key.label) has no ID, so it is not known whether \(keyID) is its ID in App Store "
                        + "Connect.")
            ]
        }
        guard actual != keyID else { return [] }
        let isThere = keys.contains { $0.keyID == keyID }
        return [
            Finding(
                .keyOther, .error, .proven, field: keyIDField,
                "The key \(key.name) made the signature, but the signature names \(keyID)"
                    + (isThere ? ", which is another one of the keys." : ", which is not one of the keys."))
        ]
    }

    private func unexplained(_ verifier: Verifier) -> Finding {
        guard !keys.isEmpty else { return Finding(.unexplained, "There was no key to verify with.") }
        let number = keys.count == 1 ? "one key" : "\(keys.count) keys"
        var message =
            verifier.isExhausted
            ? "The search was cut at its bound of \(verifier.count) verifications; none of the mistakes tried so far explains the signature."
            : "None of the known mistakes explains the signature: \(verifier.count) verifications, with \(number)."
        if let keyID, !keys.contains(where: { $0.keyID == keyID }) {
            let ids = keys.compactMap(\.keyID)
            message +=
                ids.isEmpty
                ? " Whether \(keyID) is among them is not known: the key has no ID."
                : " No key with the ID \(keyID) was given, only \(ids.joined(separator: ", "))."
        }
        return Finding(.unexplained, message)
    }
}
