import Encodings
import SigningKit
import StrictJSON

/// Checks that the claims of a service token are those that Apple documents.
struct ServiceTokenClaims {
    private(set) var issuer: String?
    private(set) var findings: [Finding] = []
    private let profile: ServiceProfile
    private let now: Timestamp

    /// - Parameters:
    ///   - others: all profiles, to recognise a token of another family.
    init(_ bytes: [UInt8], _ profile: ServiceProfile, others: [ServiceProfile], now: Timestamp) {
        (self.profile, self.now) = (profile, now)
        let claims: JSONObject
        do { claims = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            findings.addUnreadable(error, .claimsNotJSON, in: "claims")
            return
        }
        issuer = try? claims["iss"]?.string()
        checkFamily(claims, others)
        for member in profile.claims { check(member, claims[member.name]) }
        for name in claims.names where !profile.claims.map(\.name).containsExactly(name) {
            findings.add(
                name == "exp" ? .claimExp : .claimNotDocumented, in: name,
                "The claim \"\(name)\" is not documented for \(profile.id).",
                cure: name == "exp" ? "Leave exp out: Apple measures the age from iat." : nil)
        }
        checkTimes(claims)
    }

    /// A token that fits another family better was probably made for that one, with its key.
    private mutating func checkFamily(_ claims: JSONObject, _ others: [ServiceProfile]) {
        let own = profile.faults(in: claims)
        guard own > 0,
            let better = others.filter({ $0.family != profile.family }).first(where: { $0.faults(in: claims) == 0 })
        else { return }
        findings.add(
            .familyOther,
            "The claims are those of \(better.id), which needs the \(better.family.rawValue); a token for \(profile.id) "
                + "needs the \(profile.family.rawValue).")
    }

    private mutating func check(_ member: ServiceTokenMember, _ value: JSONValue?) {
        let name = member.name
        guard let value else {
            guard member.isRequired else { return }
            let needed = profile.claims.filter(\.isRequired).map(\.name).joined(separator: ", ")
            return findings.add(
                .claimMissing, in: name, "The claim \"\(name)\" is missing.",
                cure: "Add the claim. A token for \(profile.id) needs these: \(needed).")
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
        guard let text = try? value.string() else { return }
        if let fixed = member.fixed, text != fixed {
            findings.add(
                name == "aud" ? .audienceWrong : .claimValue, in: name,
                "The claim \"\(name)\" is \"\(text)\"; for \(profile.id) it must be \"\(fixed)\".",
                cure: "Use \"\(fixed)\".")
        }
        if text.isEmpty { findings.add(.claimEmpty, in: name, "The claim \"\(name)\" is empty.") }
        checkIdentifier(member.identifier, name, text)
    }

    private mutating func checkIdentifier(_ identifier: ServiceIdentifier?, _ name: String, _ text: String) {
        let isUUID = UUIDText.isUUID(text)
        switch identifier {
        case .issuerID where !isUUID:
            findings.add(
                .identifierOther, in: name,
                "The claim \"\(name)\" is \"\(text)\", but \(profile.id) needs the issuer ID, which is a UUID.")
        case .teamID where isUUID:
            findings.add(
                .identifierOther, in: name,
                "The claim \"\(name)\" is the UUID \(text), but \(profile.id) needs the Team ID, ten characters.")
        default: break
        }
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
            let claim = error.path.hasPrefix("scopes") ? "scope" : "origin"
            findings.add(.choiceInvalid, in: claim, "\(error)")
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
        if (1_000_000_000..<100_000_000_000).contains(seconds) { return seconds }
        let isFiner = seconds >= 100_000_000_000
        findings.add(
            name == "exp" ? .expRange : isFiner ? .iatMilliseconds : .iatRange, in: name,
            "The claim \"\(name)\" is \(seconds), which is no time in seconds since 1970"
                + (isFiner ? "; it looks like milliseconds." : "."))
        return nil
    }
}

extension ServiceProfile {
    /// What the IDs of API clients begin with, which Apple makes for those who upload a public key.
    private static let clientIDs = ["SEARCHADS.", "BUSINESSAPI.", "SCHOOLAPI."]

    /// The number of claims that are missing, unknown, or have another fixed value or kind of ID.
    func faults(in claims: JSONObject) -> Int {
        let missing = self.claims.count { member in
            guard let value = claims[member.name] else { return member.isRequired }
            guard let fixed = member.fixed else { return false }
            return (try? value.string()) != fixed
        }
        // This alone tells an assertion for Apple Ads from a client secret of Sign in with Apple.
        let subject = (try? claims["sub"]?.string()) ?? ""
        let isClient = Self.clientIDs.contains { subject.hasPrefix($0) }
        let other = !subject.isEmpty && isClient != identifiers.contains(.clientID) ? 1 : 0
        return missing + other + claims.names.count { !self.claims.map(\.name).containsExactly($0) }
    }
}
