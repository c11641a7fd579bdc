import SigningKit
import StrictJSON

/// Checks the header of a service token.
struct ServiceTokenHeader {
    private(set) var keyID: String?
    private(set) var findings: [Finding] = []
    private let cure: String

    /// - Parameter identifiers: The identifiers in the claims, by claim.
    init(_ bytes: [UInt8], _ profile: ServiceProfile, identifiers: [String: String]) {
        let expected =
            [ServiceTokenMember("alg", .string, fixed: "ES256"), ServiceTokenMember("kid", .string)] + profile.header
        cure =
            "Give the header exactly these members, all strings: \(expected.map(\.name).joined(separator: ", "))."
            + (profile.header.contains { $0.name == "id" } ? " id is the Team ID, a period and the service ID." : "")
        let header: JSONObject
        do { header = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            findings.addUnreadable(error, .headerNotJSON, in: "header")
            return
        }
        keyID = try? header["kid"]?.string()
        for member in expected { check(member, header[member.name], identifiers) }
        for name in header.names where !expected.map(\.name).containsExactly(name) {
            if name == "typ" {
                findings.add(
                    .headerTypUndocumented, in: "typ",
                    "The header has typ, which Apple does not document for \(profile.id).",
                    severity: .warning)
            } else {
                findings.add(
                    .headerMemberUnknown, in: name,
                    "The header has a member \"\(name)\", which a token for \(profile.id) does not have.",
                    cure: "Leave it out.")
            }
        }
    }

    private mutating func check(_ member: ServiceTokenMember, _ value: JSONValue?, _ identifiers: [String: String]) {
        let name = member.name
        guard let value else {
            // Apple's libraries for App Store Connect work without it.
            let severity: Finding.Severity = name == "typ" ? .warning : .error
            return findings.add(
                .headerMemberMissing, in: name, "The header has no member \"\(name)\".", severity: severity, cure: cure)
        }
        guard let text = try? value.string() else {
            return findings.add(.headerMemberKind, in: name, "The header's \"\(name)\" is not a string.", cure: cure)
        }
        if let fixed = member.fixed, text != fixed {
            let code: FindingCode = name == "alg" ? .headerAlg : name == "typ" ? .headerTyp : .claimValue
            return findings.add(code, in: name, "The header's \(name) is \"\(text)\", not \"\(fixed)\".")
        }
        if text.isEmpty {
            return findings.add(.headerMemberMissing, in: name, "The header's \(name) is empty.", cure: cure)
        }
        if name == "id" { checkID(text, identifiers) }
    }

    /// WeatherKit's `id` is the claims `iss` and `sub` with a period between them. A claim that is missing or wrong has a
    /// finding of its own, so it is not compared.
    private mutating func checkID(_ text: String, _ identifiers: [String: String]) {
        guard let teamID = identifiers["iss"] else { return }
        let isRight =
            identifiers["sub"].map { text.hasSameBytes(as: "\(teamID).\($0)") } ?? text.hasPrefix("\(teamID).")
        guard !isRight else { return }
        let expected = "\(teamID).\(identifiers["sub"] ?? "com.example.weather")"
        findings.add(
            .identifierOther, in: "id",
            "The header's id is \"\(text)\"; it must be the Team ID (the claim iss), a period and the service ID (the "
                + "claim sub), as in \(expected).")
    }
}

extension [Finding] {
    mutating func addUnreadable(_ error: any Error, _ code: FindingCode, in part: String) {
        if let error = error as? JSONSyntaxError, case .duplicateMember(let name) = error.reason {
            add(.memberTwice, in: name, "The \(part) has the member \"\(name)\" twice.")
        } else {
            add(code, in: part, "The \(part) cannot be read. \(error)")
        }
    }
}
