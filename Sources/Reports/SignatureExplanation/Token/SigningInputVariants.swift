import Algorithms
import Encodings
import JWS
import StrictJSON

extension TokenReading {
    /// A way to sign a token, for the sentence `<message>.`
    private typealias Way = (bytes: [UInt8], code: FindingCode, message: String)

    /// The possible signing inputs, with the finding about the mistake; nil for the correct one.
    ///
    /// - Parameter keyIDs: The IDs of all keys.
    func signingInputVariants(keyIDs: [String]) -> [(bytes: [UInt8], finding: Finding?)] {
        let (header, payload) = (header ?? [], payload ?? [])
        let ways =
            encodings(header, payload) + decorations() + otherHeaders(header, payload, keyIDs)
            + otherClaims(header, payload)
        return [(signingInput, nil)] + ways.map { ($0.bytes, Finding($0.code, "\($0.message).")) }
    }

    private func encodings(_ header: [UInt8], _ payload: [UInt8]) -> [Way] {
        let dot = [UInt8(ascii: ".")]
        let (first, second) = (Base64.url.encode(header), Base64.url.encode(payload))
        let proper = self.header == nil || self.payload == nil ? signingInput : first + dot + second
        let padded = Self.padded(first) + dot + Self.padded(second)
        let standard = Base64.standard.encode(header) + dot + Base64.standard.encode(payload)
        let over = "The signature is over"
        let withoutPadding = "\(over) the parts in Base64url without padding, but the token carries them otherwise"
        let withPadding = "\(over) the parts with their padding, but the token carries them without"
        let inStandardBase64 = "\(over) the parts in standard Base64, but the token carries them in Base64url"
        let behindHeader = "\(over) the payload's JSON behind the header's part (\"b64\": false of RFC 7797)"
        return [
            (proper, .signedOtherEncoding, withoutPadding),
            (padded, .signedOtherEncoding, withPadding), (standard, .signedOtherEncoding, inStandardBase64),
            (second, .signedPayloadOnly, "\(over) the payload's part alone, without the header"),
            (payload, .signedPayloadOnly, "\(over) the JSON of the payload alone, without the header"),
            (header + dot + payload, .signedUnencoded, "\(over) the JSON texts, before they were encoded"),
            (first + dot + payload, .signedUnencoded, behindHeader),
            (header + payload, .signedUnencoded, "\(over) the two JSON texts without a dot between"),
            (first + second, .signedWithoutDot, "\(over) the two parts without the dot between"),
            (second + dot + first, .signedPartsSwapped, "\(over) the payload's part, then the header's"),
            (first, .signedHeaderOnly, "\(over) the header's part alone: it covers no claim"),
        ]
    }

    private static func padded(_ text: [UInt8]) -> [UInt8] {
        text + Array(repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
    }

    private func decorations() -> [Way] {
        let right = signingInput
        let littleEndian = TextEncoding.utf16(right)
        let bigEndian = TextEncoding.utf16(right, bigEndian: true)
        let hexadecimal = Array(Hexadecimal.encode(right).utf8)
        return [
            (right + [0x0A], .textNewline, "A line feed was signed after the two parts"),
            (right + [UInt8(ascii: ".")], .signedTrailingDot, "The dot after the two parts was also signed"),
            (right + [0], .textZeroByte, "A zero byte was signed after the two parts"),
            (littleEndian, .textUTF16, "The two parts were signed in UTF-16 (little-endian)"),
            (bigEndian, .textUTF16, "The two parts were signed in UTF-16 (big-endian)"),
            (Base64.standard.encode(right), .textBase64, "The two parts were signed in Base64 once more"),
            (Base64.url.encode(right), .textBase64, "The two parts were signed in Base64url once more"),
            (hexadecimal, .textHex, "The two parts were signed in hexadecimal"),
        ]
    }

    // MARK: Changed after signing

    /// Other headers: without `kid` or `typ`, in another order, or with another key ID.
    private func otherHeaders(_ header: [UInt8], _ payload: [UInt8], _ keyIDs: [String]) -> [Way] {
        let named = try? JSONDocument(parsing: header).root.anyObject()["kid"]?.string()
        let (alg, typ) = (("alg", "ES256"), ("typ", "JWT"))
        let headers =
            Set(keyIDs + [named].compactMap { $0 }).sorted().flatMap { keyID in
                let kid = ("kid", keyID)
                return [[alg, kid, typ], [alg, kid]].flatMap { $0.permutations() }
            } + [[alg, typ], [typ, alg], [alg]]
        return headers.map { members in
            let text = JSONText.string(JSONMembers(members))
            let message = "The signature is over another header, \(text): the header was changed after signing"
            return (CompactJWS.signingInput(header: Array(text.utf8), payload: payload), .signedOtherHeader, message)
        }
    }

    /// Other notations of the same claims: a program decoded the payload and encoded it again.
    private func otherClaims(_ header: [UInt8], _ payload: [UInt8]) -> [Way] {
        guard let claims = try? JSONDocument(parsing: payload).root.anyObject() else { return [] }
        let notations = [claims.names, claims.names.sorted()].flatMap { names in
            [(":", ","), (": ", ", ")].flatMap { colon, comma in
                let members = names.map {
                    "\"\($0)\"\(colon)" + String(decoding: claims[$0]?.rawBytes ?? [], as: UTF8.self)
                }
                let json = "{\(members.joined(separator: comma))}"
                return [json, json.replacing("/", with: "\\/"), json.replacing("\\/", with: "/")]
            }
        }
        let reencoded =
            "The signature is over the same claims in another form (order, spaces or escapes): the payload was encoded "
            + "again after signing"
        let ways: [Way] = notations.map {
            (CompactJWS.signingInput(header: header, payload: Array($0.utf8)), .signedOtherClaims, reencoded)
        }
        guard let nonce = try? claims["nonce"]?.string() else { return ways }
        let text = String(decoding: payload, as: UTF8.self)
        return ways
            + [nonce.uppercased(), nonce.lowercased()].map {
                let json = Array(text.replacing(nonce, with: $0).utf8)
                let message = "The signature is over the nonce \($0): its letter case was changed after signing"
                return (CompactJWS.signingInput(header: header, payload: json), .signedOtherClaims, message)
            }
    }
}
