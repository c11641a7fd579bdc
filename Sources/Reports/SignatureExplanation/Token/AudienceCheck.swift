import SigningKit
import StrictJSON

/// Determines a token's audience from its claim `aud` and from its other claims.
struct AudienceCheck {
    private let audiences: [FeatureDescriptor]
    private(set) var audience: FeatureDescriptor?
    private(set) var findings: [Finding] = []

    /// - Parameter audiences: The features that make a JWS.
    init(_ claims: JSONObject, among audiences: [FeatureDescriptor]) {
        self.audiences = audiences
        let candidates = audiences.filter { hasOwnClaim(of: $0, claims) }
        let shown = candidates.count == 1 ? candidates.first : nil
        guard let value = claims["aud"] else {
            findings.append(Finding(.claimMissing, field: "aud", "The claim \"aud\" is missing."))
            audience = shown
            return
        }
        let named = named(by: value)
        audience = shown ?? named
        if let named, let shown, named.id != shown.id {
            findings.append(
                Finding(
                    .audienceWrong, field: "aud",
                    "The audience is \"\(named.id)\", but the claims are those of \"\(shown.id)\"."))
        }
    }

    /// Whether the token has a claim that no other audience has.
    private func hasOwnClaim(of audience: FeatureDescriptor, _ claims: JSONObject) -> Bool {
        let others = audiences.filter { $0.id != audience.id }.flatMap { $0.claims ?? [] }
        return (audience.claims ?? []).contains { claim in
            claims[claim.name] != nil && !others.contains { $0.name == claim.name }
        }
    }

    private mutating func named(by value: JSONValue) -> FeatureDescriptor? {
        if let elements = try? value.elements() {
            findings.append(Finding(.audienceArray, field: "aud", "The audience is an array; it must be one string."))
            return elements.compactMap { audience((try? $0.string()) ?? "") }.first
        }
        guard let text = try? value.string() else {
            findings.append(.claimKind("aud", .string, value.kind))
            return nil
        }
        if let audience = audience(text) { return audience }
        let ids = audiences.map(\.id).listed("or")
        findings.append(
            text == "appstoreconnect-v1"
                ? Finding(
                    .audienceServerAPI, field: "aud",
                    "The audience is \"appstoreconnect-v1\": that is a token for Apple's server APIs, not for StoreKit.",
                    cure: "Make another token for StoreKit: audience \(ids), no exp.")
                : Finding(
                    .audienceUnknown, field: "aud", "The audience \"\(text)\" is not one that StoreKit accepts.",
                    cure: "Use \(ids)."))
        return audience(text.lowercased())
    }

    private func audience(_ id: String) -> FeatureDescriptor? { audiences.first { $0.id.hasSameBytes(as: id) } }
}

extension [String] {
    /// Such as `a, b or c`.
    func listed(_ conjunction: String) -> String {
        guard count > 1, let last else { return joined() }
        return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }
}
