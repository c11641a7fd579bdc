import Encodings
import SigningKit

extension SignatureExaminer {
    /// - Parameters:
    ///   - token: A compact JWS, exactly as the app receives it.
    ///   - app: The expected bundle ID, if any.
    ///   - isSearching: Whether to search for the mistake if the signature does not verify.
    public func examine(token: [UInt8], app: String? = nil, isSearching: Bool) -> Explanation {
        let reading = TokenReading(token)
        let header = reading.header.map { TokenHeader($0) }
        let claims = reading.payload.map { TokenClaims($0, audiences: audiences, app: app, now: now) }
        // With another algorithm there is no ECDSA signature, so this finding precedes those about the signature.
        let ofHeader = header?.findings ?? []
        var form = ofHeader.filter { $0.code == .headerAlg } + reading.findings
        form += ofHeader.filter { $0.code != .headerAlg } + (claims?.findings ?? [])
        var keyID = header?.keyID
        if let named = keyID, let issuerID = claims?.issuerID, areSwapped(keyID: named, issuerID: issuerID) {
            form.add(
                .keyIssuerSwapped, in: "kid",
                "The header's kid is \(named) and the claim iss is \(issuerID): the key ID and the issuer ID were "
                    + "swapped.")
            keyID = issuerID
        } else if let keyID {
            form.addKeyID(keyID, in: "kid")
        }
        return examination(
            of: reading, kind: claims?.audience?.id ?? "jws", keyID: keyID, form: form, isSearching: isSearching)
    }

    /// - Parameter profile: The profile of a service token.
    func examination(
        of reading: TokenReading, kind: String, profile: ServiceProfile? = nil, keyID: String?, form: [Finding],
        isSearching: Bool
    ) -> Explanation {
        var rendering: SigningInputRendering?
        if let header = reading.header, let payload = reading.payload {
            rendering = SigningInputRendering(
                [.init("header", header), .init("payload", payload)], separator: ".",
                signingInput: reading.signingInput)
        }
        let examination = Examination(
            keys: keys, maximumVerifications: maximumVerifications, kind: kind, keyID: keyID,
            keyIDField: "kid", reading: reading.signature, rendering: rendering, form: form, profile: profile)
        guard isSearching else { return examination.explanation(of: reading.signingInput, search: nil) }
        let variants = reading.signingInputVariants(keyIDs: keys.compactMap(\.keyID))
        return examination.explanation(of: reading.signingInput) { Self.hit($0, over: variants, $1) }
    }

    /// Tries every variant with the correct digest, then with the other digests; then the same with r and s reordered.
    private static func hit(
        _ signature: P256Signature, over variants: [(bytes: [UInt8], finding: Finding?)], _ verifier: Verifier
    ) -> Examination.Hit? {
        let forms: [(P256Signature, Finding?)] =
            [(signature, nil)] + signature.reordered.map { ($0.signature, $0.finding) }
        for (signature, finding) in forms {
            var tried: Set<[UInt8]> = []
            for form in [.sha256] + DigestForm.wrong {
                for variant in variants {
                    let digest = form.apply(variant.bytes)
                    guard tried.insert(digest.bytes).inserted,
                        let key = verifier.key(verifying: signature, digest)
                    else { continue }
                    return Examination.Hit(
                        findings: [variant.finding, form.finding, finding].compactMap(\.self), key: key)
                }
            }
        }
        return nil
    }

    /// Whether the issuer ID is not a UUID, and either the key ID is one, or only the issuer ID is the ID of a key.
    private func areSwapped(keyID: String, issuerID: String) -> Bool {
        let ids = keys.compactMap(\.keyID)
        return !UUIDText.isUUID(issuerID)
            && (UUIDText.isUUID(keyID) || ids.contains(issuerID) && !ids.contains(keyID))
    }
}
