import Encodings
import SigningKit
import StrictJSON

/// Checks that a token's claims are exactly those of its audience.
struct ClaimsCheck {
    /// The audience whose claims the token has, even if its `aud` differs.
    private(set) var audience: FeatureDescriptor?
    /// The claim `iss`, if it is a string.
    private(set) var issuerID: String?
    private(set) var findings: [Finding] = []
    private let audiences: [FeatureDescriptor]
    private let now: Timestamp

    init(_ bytes: [UInt8], audiences: [FeatureDescriptor], app: String?, now: Timestamp) {
        self.audiences = audiences
        self.now = now
        let claims: JSONObject
        do { claims = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            findings.append(Finding(.claimsNotJSON, field: "payload", "The claims cannot be read. \(error)"))
            return
        }
        let audienceCheck = AudienceCheck(claims, among: audiences)
        audience = audienceCheck.audience
        findings += audienceCheck.findings
        issuerID = try? claims["iss"]?.string()
        let known = TokenClaim.base + (audience?.claims ?? [])
        checkNames(claims, known)
        for claim in known {
            if let value = claims[claim.name] { check(value, claim) }
        }
        checkApp(claims, app)
    }

    // MARK: Names

    private mutating func checkNames(_ claims: JSONObject, _ known: [FeatureField]) {
        let missing = known.filter { $0.isRequired && claims[$0.name] == nil && $0.name != "aud" }.map(\.name)
        var found: Set<String> = []
        // Without an audience, the claims of every feature are allowed.
        let allowed = audience == nil ? audiences.flatMap { $0.claims ?? [] } : []
        let taken = (known + allowed).map(\.name)
        for name in claims.names where !taken.containsExactly(name) {
            if let meant = TokenClaim.meant(by: name, among: known)?.name, claims[meant] == nil {
                found.insert(meant)
                findings.append(
                    Finding(
                        .claimMisspelled, field: name,
                        "The claim \"\(name)\" is not known; \"\(meant)\" is known, and is missing."))
            } else {
                findings.append(Self.unknown(name, audience))
            }
        }
        for name in missing where !found.contains(name) {
            findings.append(Finding(.claimMissing, field: name, "The claim \"\(name)\" is missing."))
        }
    }

    private static func unknown(_ name: String, _ audience: FeatureDescriptor?) -> Finding {
        if name == "exp" {
            return Finding(
                .claimExpiration, field: "exp",
                "The claim \"exp\" is present; Apple computes the expiration from iat, and refuses additional claims.")
        }
        let whose = audience.map { "for \($0.id)" } ?? "in any App Store token for StoreKit"
        return Finding(.claimUnknown, field: name, "The claim \"\(name)\" is not allowed \(whose).")
    }

    // MARK: Values

    private mutating func check(_ value: JSONValue, _ claim: FeatureField) {
        if value.kind == .null {
            findings.append(Finding(.claimNull, field: claim.name, "The claim \"\(claim.name)\" is null."))
            return
        }
        switch (claim.name, claim.kind) {
        case ("aud", _): break  // Done by AudienceCheck.
        case ("iat", _): findings += IssuedAtCheck.findings(value, now: now)
        case ("nonce", _): checkNonce(value)
        case (_, .encodedObject(let members)):
            findings += EncodedObjectCheck(claim: claim.name, members: members).findings(value)
        case ("transactionId", _) where value.kind == .number:
            findings.append(
                Finding(
                    .transactionIDNumber, field: claim.name,
                    "The claim \"transactionId\" is a number; it must be a string."))
        default: checkText(value, claim)
        }
    }

    private mutating func checkText(_ value: JSONValue, _ claim: FeatureField) {
        guard value.kind == claim.kind.json else {
            findings.append(.claimKind(claim.name, claim.kind.json, value.kind))
            return
        }
        guard let text = try? value.string() else { return }
        if text.isEmpty {
            findings.append(Finding(.claimEmpty, field: claim.name, "The claim \"\(claim.name)\" is empty."))
            return
        }
        findings += TextProperties.findings(
            text, .identifier, field: claim.name, subject: "The claim \"\(claim.name)\"")
        if claim.name == "iss", !UUIDText.isUUID(text) {
            findings.append(
                Finding(
                    .issuerNotUUID, .warning, field: "iss",
                    "The issuer ID \"\(text)\" is not a UUID, but those of App Store Connect are."))
        }
    }

    private mutating func checkNonce(_ value: JSONValue) {
        guard let nonce = try? value.string() else {
            findings.append(.claimKind("nonce", .string, value.kind))
            return
        }
        if !UUIDText.isUUID(nonce) {
            findings.append(Finding(.nonceNotUUID, field: "nonce", "The nonce \"\(nonce)\" is not a UUID."))
        } else if nonce != nonce.lowercased() {
            findings.append(
                Finding(
                    .nonceUpperCase, .warning, field: "nonce",
                    "The nonce has upper-case letters. Apple's page \"Generating JWS to sign App Store requests\" shows lower case and demands none; Apple's Swift library (JWSSignatureCreator.swift) writes upper case."
                ))
        }
    }

    private mutating func checkApp(_ claims: JSONObject, _ app: String?) {
        guard let app, let bundleID = try? claims["bid"]?.string(), !bundleID.hasSameBytes(as: app) else { return }
        findings.append(
            Finding(.appDiffers, field: "bid", "The token is for the app \(bundleID), but \(app) was expected."))
    }
}

extension Finding {
    static func claimKind(_ name: String, _ expected: JSONKind, _ found: JSONKind) -> Finding {
        let error = JSONReadError(.wrongKind(expected: expected, found: found), at: name)
        return Finding(.claimKind, field: name, "The claim \(error)")
    }
}
