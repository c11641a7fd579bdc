import Encodings
import SigningKit
import StrictJSON

/// Checks that a token's claims are exactly those of its audience.
struct TokenClaims {
    /// The audience whose claims the token has, even if its `aud` differs.
    private(set) var audience: FeatureDescriptor?
    /// The claim `iss`, if it is a string.
    private(set) var issuerID: String?
    private(set) var findings: [Finding] = []
    private let audiences: [FeatureDescriptor]

    /// The claims of all audiences (Apple: "Generating JWS to sign App Store requests").
    private static let base = [
        FeatureField("iss", .string, "The issuer ID.", synonyms: ["issuer", "issuerid"]),
        FeatureField("iat", .integer, "The time, in seconds since 1970.", synonyms: ["issuedat", "timestamp"]),
        FeatureField("aud", .string, "The audience.", synonyms: ["audience"]),
        FeatureField("bid", .string, "The bundle ID.", synonyms: ["bundleid", "bundleidentifier", "appbundleid"]),
        FeatureField("nonce", .nonce, "A UUID."),
    ]

    /// - Parameters:
    ///   - audiences: The features that make a JWS.
    ///   - app: The expected bundle ID, if any.
    init(_ bytes: [UInt8], audiences: [FeatureDescriptor], app: String?, now: Timestamp) {
        self.audiences = audiences
        let claims: JSONObject
        do { claims = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            findings.add(.claimsNotJSON, in: "payload", "The claims cannot be read. \(error)")
            return
        }
        determineAudience(claims)
        issuerID = try? claims["iss"]?.string()
        let known = Self.base + (audience?.claims ?? [])
        checkNames(claims, known)
        for claim in known {
            if let value = claims[claim.name] { check(value, claim, now: now) }
        }
        if let app, let bundleID = try? claims["bid"]?.string(), !bundleID.hasSameBytes(as: app) {
            findings.add(.appDiffers, in: "bid", "The token is for the app \(bundleID), but \(app) was expected.")
        }
    }

    // MARK: The audience

    /// Determines the audience from the claim `aud` and from claims that no other audience has.
    private mutating func determineAudience(_ claims: JSONObject) {
        let candidates = audiences.filter { candidate in
            let others = audiences.filter { $0.id != candidate.id }.flatMap { $0.claims ?? [] }.map(\.name)
            return (candidate.claims ?? []).contains { claims[$0.name] != nil && !others.contains($0.name) }
        }
        let shown = candidates.count == 1 ? candidates.first : nil
        guard let value = claims["aud"] else {
            findings.add(.claimMissing, in: "aud", "The claim \"aud\" is missing.")
            audience = shown
            return
        }
        let named = named(by: value)
        audience = shown ?? named
        if let named, let shown, named.id != shown.id {
            findings.add(
                .audienceWrong, in: "aud",
                "The audience is \"\(named.id)\", but the claims are those of \"\(shown.id)\".")
        }
    }

    private mutating func named(by value: JSONValue) -> FeatureDescriptor? {
        let audience = { [audiences] (id: String) in audiences.first { $0.id.hasSameBytes(as: id) } }
        if let elements = try? value.elements() {
            findings.add(.audienceArray, in: "aud", "The audience is an array; it must be one string.")
            return elements.compactMap { (try? $0.string()).flatMap(audience) }.first
        }
        guard let text = try? value.string() else {
            findings.addKind("aud", .string, value.kind)
            return nil
        }
        if let audience = audience(text) { return audience }
        let ids = audiences.map(\.id).listed("or")
        if text == "appstoreconnect-v1" {
            findings.add(
                .audienceServerAPI, in: "aud",
                "The audience is \"appstoreconnect-v1\": that is a token for Apple's server APIs, not for StoreKit.",
                cure: "Make another token for StoreKit: audience \(ids), no exp.")
        } else {
            findings.add(
                .audienceUnknown, in: "aud", "The audience \"\(text)\" is not one that StoreKit accepts.",
                cure: "Use \(ids).")
        }
        return audience(text.lowercased())
    }

    // MARK: Names

    private mutating func checkNames(_ claims: JSONObject, _ known: [FeatureField]) {
        var missing = known.filter { $0.isRequired && claims[$0.name] == nil && $0.name != "aud" }.map(\.name)
        // Without an audience, the claims of every feature are allowed.
        let allowed = known + (audience == nil ? audiences.flatMap { $0.claims ?? [] } : [])
        for name in claims.names where !allowed.map(\.name).containsExactly(name) {
            if let meant = Self.claim(meantBy: name, among: known), claims[meant] == nil {
                missing.removeAll { $0 == meant }
                findings.add(
                    .claimMisspelled, in: name,
                    "The claim \"\(name)\" is not known; \"\(meant)\" is known, and is missing.")
            } else if name == "exp" {
                findings.add(
                    .claimExp, in: "exp",
                    "The claim \"exp\" is present; Apple computes the expiration from iat, and refuses additional "
                        + "claims.")
            } else {
                let place = audience.map { "for \($0.id)" } ?? "in any App Store token for StoreKit"
                findings.add(.claimUnknown, in: name, "The claim \"\(name)\" is not allowed \(place).")
            }
        }
        for name in missing { findings.add(.claimMissing, in: name, "The claim \"\(name)\" is missing.") }
    }

    /// The claim for which `name` is a known misspelling or synonym, or nil.
    private static func claim(meantBy name: String, among claims: [FeatureField]) -> String? {
        let plain = { (name: String) in name.lowercased().filter { $0 != "_" && $0 != "-" } }
        return claims.first { plain($0.name) == plain(name) || $0.synonyms.contains(plain(name)) }?.name
    }

    // MARK: Values

    private mutating func check(_ value: JSONValue, _ claim: FeatureField, now: Timestamp) {
        let name = claim.name
        switch (name, claim.kind) {
        case _ where value.kind == .null: findings.add(.claimNull, in: name, "The claim \"\(name)\" is null.")
        case ("aud", _): break  // Done by determineAudience.
        case ("iat", _): checkIssuedAt(value, now: now)
        case ("nonce", _): checkNonce(value)
        case (_, .encodedObject(let members)):
            findings += EncodedObjectCheck(claim: name, members: members).findings(value)
        case ("transactionId", _) where value.kind == .number:
            findings.add(
                .transactionIDNumber, in: name, "The claim \"transactionId\" is a number; it must be a string.")
        default: checkText(value, claim)
        }
    }

    private mutating func checkText(_ value: JSONValue, _ claim: FeatureField) {
        let name = claim.name
        guard value.kind == claim.kind.json else { return findings.addKind(name, claim.kind.json, value.kind) }
        guard let text = try? value.string() else { return }
        guard !text.isEmpty else {
            return findings.add(
                .claimEmpty, in: name, "The claim \"\(name)\" is empty.",
                cure: name == "transactionId"
                    ? "Give the claim its value; leave it out of a promotional offer when there is none." : nil)
        }
        findings.addText(text, .identifier, in: name, subject: "The claim \"\(name)\"")
        if name == "iss", !UUIDText.isUUID(text) {
            findings.add(
                .issuerNotUUID, in: "iss",
                "The issuer ID \"\(text)\" is not a UUID, but those of App Store Connect are.", severity: .warning)
        }
    }

    private mutating func checkNonce(_ value: JSONValue) {
        guard let nonce = try? value.string() else { return findings.addKind("nonce", .string, value.kind) }
        if !UUIDText.isUUID(nonce) {
            findings.add(.nonceNotUUID, in: "nonce", "The nonce \"\(nonce)\" is not a UUID.")
        } else if nonce != nonce.lowercased() {
            findings.add(
                .nonceUpperCase, in: "nonce",
                "The nonce has upper-case letters. Apple's page \"Generating JWS to sign App Store requests\" shows "
                    + "lower case and demands none; Apple's Swift library (JWSSignatureCreator.swift) writes upper "
                    + "case.",
                severity: .warning)
        }
    }

    /// The claim `iat` has whole seconds since 1970, as a number.
    private mutating func checkIssuedAt(_ value: JSONValue, now: Timestamp) {
        let text = String(decoding: value.rawBytes, as: UTF8.self)
        switch value.kind {
        case .number: break
        case .string:
            return findings.add(.iatText, in: "iat", "The claim \"iat\" is the text \(text), not a number.")
        case .object, .array, .boolean, .null: return findings.addKind("iat", .number, value.kind)
        }
        if let seconds = try? value.integer() { return checkIssuedAt(seconds, now: now) }
        guard let number = Double(text), abs(number) < 1e18 else {
            return findings.add(.iatRange, in: "iat", "The claim \"iat\" is \(text): that is not a time.")
        }
        checkIssuedAt(Int64(number), now: now)
        findings.add(
            .iatFraction, in: "iat",
            "The claim \"iat\" is \(text), with a fraction or an exponent. Apple's page \"Generating JWS to sign App "
                + "Store requests\" shows whole seconds and demands none; Apple's Swift library "
                + "(JWSSignatureCreator.swift) writes a fraction.", severity: .warning)
    }

    private mutating func checkIssuedAt(_ seconds: Int64, now: Timestamp) {
        let unit = TimeUnit(of: seconds)
        guard unit == .seconds else { return findings.addTime(seconds, in: unit, claim: "iat") }
        findings.addAge(of: seconds * 1000, .issuedLongAgo, in: "iat", now: now)
    }
}

extension [Finding] {
    mutating func addKind(_ claim: String, _ expected: JSONKind, _ found: JSONKind) {
        let error = JSONReadError(.wrongKind(expected: expected, found: found), at: claim)
        add(.claimKind, in: claim, "The claim \(error)")
    }
}

extension [String] {
    /// Such as `a, b or c`.
    func listed(_ conjunction: String) -> String {
        guard count > 1, let last else { return joined() }
        return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }
}
