import SigningKit
import StrictJSON

/// Checks that the claims of a service token are those that Apple documents.
struct ServiceTokenClaims {
    /// The claims that are identifiers and have the right form, by claim.
    private(set) var identifiers: [String: String] = [:]
    private(set) var findings: [Finding] = []
    private let profile: ServiceProfile
    private let now: Timestamp

    /// - Parameter app: The expected bundle ID, if any.
    init(_ bytes: [UInt8], _ profile: ServiceProfile, app: String?, now: Timestamp) {
        (self.profile, self.now) = (profile, now)
        let claims: JSONObject
        do { claims = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            findings.addUnreadable(error, .claimsNotJSON, in: "claims")
            return
        }
        for member in profile.claims { check(member, claims[member.name]) }
        for name in claims.names where !profile.claims.map(\.name).containsExactly(name) {
            findings.add(
                name == "exp" ? .claimExp : .claimNotDocumented, in: name,
                "The claim \"\(name)\" is not documented for \(profile.id).",
                cure: name == "exp" ? "Leave exp out: Apple measures the age from iat." : nil)
        }
        checkClients()
        if let app, let bundleID = try? claims["bid"]?.string(), !bundleID.hasSameBytes(as: app) {
            findings.add(
                .appDiffers, in: "bid", "The token is for the app \(bundleID), but \(app) was expected.",
                cure: "Use the bundle ID of the app that the calls are for.")
        }
        checkTimes(claims)
    }

    private mutating func check(_ member: ServiceTokenMember, _ value: JSONValue?) {
        let name = member.name
        guard let value else {
            guard member.isRequired else { return }
            let needed = profile.claims.filter(\.isRequired).map(\.name).joined(separator: ", ")
            return findings.add(
                .claimMissing, in: name, "The claim \"\(name)\" is missing.",
                cure: "Add the claim. A token for \(profile.id) needs these: \(needed). Sign it with the "
                    + "\(profile.family.rawValue).")
        }
        guard value.kind == member.kind else {
            if member.kind == .number, value.kind == .string {
                let text = String(decoding: value.rawBytes, as: UTF8.self)
                findings.add(
                    name == "exp" ? .expText : .iatText, in: name,
                    "The claim \"\(name)\" is the text \(text), not a number.")
            } else if name == "aud", value.kind == .array {
                findings.add(.audienceArray, in: "aud", "The audience is an array; it must be one string.")
            } else {
                findings.addKind(name, member.kind, value.kind)
            }
            return
        }
        if let elements = try? value.elements() { return checkElements(elements, name) }
        guard let text = try? value.string() else { return }
        if let fixed = member.fixed {
            guard !text.hasSameBytes(as: fixed) else { return }
            return findings.add(
                name == "aud" ? .audienceWrong : .claimValue, in: name,
                "The claim \"\(name)\" is \"\(text)\"; for \(profile.id) it must be \"\(fixed)\".",
                cure: "Use \"\(fixed)\".")
        }
        guard !text.isEmpty else {
            return findings.add(.claimEmpty, in: name, "The claim \"\(name)\" is empty.")
        }
        if let form = IdentifierForm(of: member, for: profile.family) { checkIdentifier(text, form, name) }
    }

    /// An array of scopes or origins. `limit` checks their texts.
    private mutating func checkElements(_ elements: [JSONValue], _ name: String) {
        if elements.isEmpty, name == "scope" {
            findings.add(
                .claimEmpty, in: name,
                "The claim \"scope\" is an empty array. Apple refuses a request that no entry of it matches.",
                cure: "Leave the claim out, or name the requests, as in \"GET /v1/apps\".")
        }
        if let index = elements.firstIndex(where: { $0.kind != .string }) {
            findings.addKind("\(name)[\(index)]", .string, elements[index].kind)
        }
    }

    private mutating func checkIdentifier(_ text: String, _ form: IdentifierForm, _ name: String) {
        let count = findings.count
        findings.addText(text, .identifier, in: name, subject: "The claim \"\(name)\"", severity: .error)
        // A finding about the text is more exact than one about the form.
        guard findings.count == count else { return }
        guard form.matches(text) else {
            return findings.add(
                .identifierOther, in: name,
                "The claim \"\(name)\" is \"\(text)\", but \(profile.id) needs \(form.description).")
        }
        identifiers[name] = text
    }

    /// Apple Business and School Manager: `iss` and `sub` are the same client ID.
    private mutating func checkClients() {
        guard profile.claims.count(where: { $0.identifier == .clientID }) == 2, let issuer = identifiers["iss"],
            let subject = identifiers["sub"], !issuer.hasSameBytes(as: subject)
        else { return }
        findings.add(
            .identifierOther, in: "sub",
            "The claim \"iss\" is \"\(issuer)\" and the claim \"sub\" is \"\(subject)\", but \(profile.id) needs the "
                + "same client ID in both.", cure: "Use the client ID of the API account in both claims.")
    }

    // MARK: Times

    private mutating func checkTimes(_ claims: JSONObject) {
        guard let issued = seconds(claims["iat"], "iat") else { return }
        // Apple refuses a token from the future, and its clocks differ from others by some seconds.
        if issued > now.seconds + 60 {
            findings.add(
                .issuedInFuture, in: "iat",
                "The claim \"iat\" is \(issued - now.seconds) seconds in the future; Apple refuses such a token.")
        }
        guard profile.claims.contains(where: { $0.name == "exp" }) else {
            if now.seconds - issued > 3600 {
                findings.add(
                    .tokenTooOld, in: "iat",
                    "The claim \"iat\" is \((now.seconds - issued) / 60) minutes ago; Apple accepts an hour.")
            }
            return
        }
        guard let expires = seconds(claims["exp"], "exp") else { return }
        let limit = limit(claims) ?? .max
        if expires <= issued {
            findings.add(.expRange, in: "exp", "The claim \"exp\" is \(expires), which is not after iat, \(issued).")
        } else if expires - issued > limit {
            findings.add(
                .lifetimeTooLong, in: "exp",
                "The time from iat to exp is \(expires - issued) seconds; Apple accepts at most \(limit) for \(profile.id)."
            )
        } else if expires <= now.seconds {
            findings.add(.tokenExpired, in: "exp", "The token expired \((now.seconds - expires) / 60) minutes ago.")
        }
    }

    /// The most seconds that Apple accepts for the scopes of the token.
    private mutating func limit(_ claims: JSONObject) -> Int64? {
        func list(_ name: String) -> [String] {
            ((try? claims[name]?.elements()) ?? []).compactMap { try? $0.string() }
        }
        var choices = ServiceTokenChoices()
        if profile.choices.contains(.scopes) { choices.scopes = list("scope") }
        if profile.choices.contains(.origins) {
            choices.origins =
                (try? claims["origin"]?.string())?.split(separator: ",").map(String.init) ?? list("origin")
        }
        do throws(JSONReadError) { return try profile.check(choices) ?? profile.lifetime?.limit } catch {
            // A request names them in the plural, and the token does not.
            let claim = error.path.hasPrefix("scopes") ? "scope" : "origin"
            let path = claim + error.path.drop { $0 != "[" }
            findings.add(.choiceInvalid, in: claim, "\(JSONReadError(error.reason, at: path))")
            return profile.lifetime?.limit
        }
    }

    private mutating func seconds(_ value: JSONValue?, _ name: String) -> Int64? {
        guard let value, value.kind == .number else { return nil }
        let text = String(decoding: value.rawBytes, as: UTF8.self)
        guard let seconds = try? value.integer() else {
            findings.add(
                name == "exp" ? .expRange : .iatRange, in: name,
                "The claim \"\(name)\" is \(text); it must be a whole number of seconds.")
            return nil
        }
        let unit = TimeUnit(of: seconds)
        if unit == .seconds { return seconds }
        findings.addTime(seconds, in: unit, claim: name)
        return nil
    }
}
