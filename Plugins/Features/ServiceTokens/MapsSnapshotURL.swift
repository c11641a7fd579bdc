import Encodings
import SigningKit
import StrictJSON

/// A signed URL of the Maps Web Snapshots service (Apple: "Generating a URL and signature to create a Maps Web Snapshot").
///
/// The text to sign is the path with the whole query. The signature, r ‖ s in Base64url, is the last parameter.
enum MapsSnapshotURL {
    static let profile = ServiceProfile(
        id: "maps-snapshot-url", summary: "A signed URL of a Maps Web Snapshot", family: .maps, identifiers: [.teamID],
        choices: [.parameters], required: [.parameters], lifetime: nil, reuse: .never, compose: compose)

    private static func compose(_ order: ServiceTokenOrder) throws(FeatureError) -> Draft<ServiceToken> {
        let parameters = order.choices.parameters ?? ""
        do throws(JSONReadError) { try check(parameters) } catch { throw .request(error) }
        let team = order.identifiers[.teamID] ?? ""
        let path = "/api/v1/snapshot?\(parameters)&teamId=\(team)&keyId=\(order.keyID)"
        let now = order.issuedAt.seconds
        return Draft(signingInput: Array(path.utf8)) { signature in
            var text: [UInt8] = []
            Base64.url.append(signature.rawRepresentation.span, to: &text)
            let url = Array("https://snapshot.apple-mapkit.com\(path)&signature=".utf8) + text
            return ServiceToken(
                text, url: url, keyID: order.keyID, issuedAt: now, expiresAt: nil, refreshAfter: now)
        }
    }

    /// - Throws: for a query that is not encoded, that begins with "?", or that has a parameter which the gateway adds.
    private static func check(_ parameters: String) throws(JSONReadError) {
        func refuse(_ sentence: String) -> JSONReadError { JSONReadError(.invalid(sentence), at: "parameters") }
        guard (1...4096).contains(parameters.utf8.count) else {
            throw refuse("has \(parameters.utf8.count) bytes; it may have 1 to 4,096")
        }
        guard !parameters.hasPrefix("?") else {
            throw refuse("begins with \"?\", which the gateway adds by itself; leave it out")
        }
        // RFC 3986 §3.4.
        let allowed = "-._~!$&'()*+,;=:@/?%".utf8
        let isEncoded = parameters.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || allowed.contains(byte)
        }
        guard isEncoded, hasWholeEscapes(parameters) else {
            throw refuse("is not the query of a URL; encode other characters with %, as in center=Berlin%20Mitte")
        }
        for parameter in parameters.split(separator: "&", omittingEmptySubsequences: false) {
            let name = parameter.prefix { $0 != "=" }
            guard !name.isEmpty, name.count < parameter.count, !name.contains("%") else {
                throw refuse("is not a list of NAME=VALUE with & between them")
            }
            if ["teamId", "keyId", "signature"].contains(name) {
                throw refuse("has \(name), which the gateway adds by itself; leave it out")
            }
        }
    }

    /// Whether two hexadecimal digits follow each `%` (RFC 3986 §2.1).
    private static func hasWholeEscapes(_ text: String) -> Bool {
        text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy { rest in
            rest.utf8.count >= 2 && rest.prefix(2).allSatisfy { $0.isASCII && $0.isHexDigit }
        }
    }
}
