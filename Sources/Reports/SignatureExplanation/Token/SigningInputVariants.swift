import Encodings
import JWS
import StrictJSON

struct SigningInputVariants {
    let header: [UInt8]
    let payload: [UInt8]
    let reading: TokenReading
    let keyIDs: [String]

    private static let dot = [UInt8(ascii: ".")]

    func all() -> [SigningInputVariant] {
        [SigningInputVariant(right: reading.signingInput)] + recoded() + parts() + decorated() + otherHeaders()
            + otherClaims()
    }

    private func recoded() -> [SigningInputVariant] {
        let (paddedHeader, paddedPayload) = (padded(header), padded(payload))
        return [
            SigningInputVariant(
                reading.properSigningInput, .signedOtherEncoding,
                "The signature is over the parts in Base64url without padding, but the token carries them otherwise."),
            SigningInputVariant(
                paddedHeader + Self.dot + paddedPayload, .signedOtherEncoding,
                "The signature is over the parts with their padding, but the token carries them without."),
            SigningInputVariant(
                Base64.standard.encode(header) + Self.dot + Base64.standard.encode(payload), .signedOtherEncoding,
                "The signature is over the parts in standard Base64, but the token carries them in Base64url."),
        ]
    }

    private func padded(_ bytes: [UInt8]) -> [UInt8] {
        let text = Base64.url.encode(bytes)
        return text + Array(repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
    }

    private func parts() -> [SigningInputVariant] {
        let (first, second) = (Base64.url.encode(header), Base64.url.encode(payload))
        return [
            SigningInputVariant(
                second, .signedPayloadOnly, "The signature is over the payload's part alone, without the header."),
            SigningInputVariant(
                payload, .signedPayloadOnly, "The signature is over the JSON of the payload alone, without the header."),
            SigningInputVariant(
                header + Self.dot + payload, .signedUnencoded,
                "The signature is over the JSON texts, before they were encoded."),
            SigningInputVariant(
                first + Self.dot + payload, .signedUnencoded,
                "The signature is over the payload's JSON behind the header's part (\"b64\": false of RFC 7797)."),
            SigningInputVariant(
                header + payload, .signedUnencoded, "The signature is over the two JSON texts without a dot between."),
            SigningInputVariant(
                first + second, .signedWithoutDot, "The signature is over the two parts without the dot between."),
            SigningInputVariant(
                second + Self.dot + first, .signedPartsSwapped,
                "The signature is over the payload's part, then the header's."),
            SigningInputVariant(
                first, .signedHeaderOnly, "The signature is over the header's part alone: it covers no claim."),
        ]
    }

    private func decorated() -> [SigningInputVariant] {
        let right = reading.signingInput
        return [
            SigningInputVariant(right + [0x0A], .textNewline, "A line feed was signed after the two parts."),
            SigningInputVariant(right + Self.dot, .signedTrailingDot, "The dot after the two parts was also signed."),
            SigningInputVariant(right + [0], .textZeroByte, "A zero byte was signed after the two parts."),
            SigningInputVariant(
                TextEncoding.utf16(right), .textUTF16, "The two parts were signed in UTF-16 (little-endian)."),
            SigningInputVariant(
                TextEncoding.utf16(right, bigEndian: true), .textUTF16,
                "The two parts were signed in UTF-16 (big-endian)."),
            SigningInputVariant(
                Base64.standard.encode(right), .textBase64, "The two parts were signed in Base64 once more."),
            SigningInputVariant(
                Base64.url.encode(right), .textBase64, "The two parts were signed in Base64url once more."),
            SigningInputVariant(
                Array(Hexadecimal.encode(right).utf8), .textHexadecimal, "The two parts were signed in hexadecimal."),
        ]
    }

    // MARK: Changed after signing

    /// Other headers: without `kid` or `typ`, in another order, or with another key ID.
    private func otherHeaders() -> [SigningInputVariant] {
        let named = try? JSONDocument(parsing: header).root.anyObject()["kid"]?.string()
        var headers: [[(String, String)]] = []
        for keyID in Set(keyIDs + [named].compactMap { $0 }).sorted() {
            let (alg, kid, typ) = (("alg", "ES256"), ("kid", keyID), ("typ", "JWT"))
            headers += [
                [alg, kid, typ], [alg, typ, kid], [kid, alg, typ], [kid, typ, alg], [typ, alg, kid], [typ, kid, alg],
            ]
            headers += [[alg, kid], [kid, alg]]
        }
        headers += [[("alg", "ES256"), ("typ", "JWT")], [("typ", "JWT"), ("alg", "ES256")], [("alg", "ES256")]]
        return headers.map { members in
            let text = Self.json(members)
            return SigningInputVariant(
                CompactJWS.signingInput(header: Array(text.utf8), payload: payload), .signedOtherHeader,
                "The signature is over another header, \(text): the header was changed after signing.")
        }
    }

    private static func json(_ members: [(String, String)]) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in members {
                writer.name(escaping: name)
                writer.string(value)
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Other notations of the same claims: a program decoded the payload and encoded it again.
    private func otherClaims() -> [SigningInputVariant] {
        guard let claims = try? JSONDocument(parsing: payload).root.anyObject() else { return [] }
        let names = claims.names
        var variants: [SigningInputVariant] = []
        for order in [names, names.sorted()] {
            for (colon, comma) in [(":", ","), (": ", ", ")] {
                let text = order.map {
                    "\"\($0)\"\(colon)" + String(decoding: claims[$0]?.rawBytes ?? [], as: UTF8.self)
                }
                .joined(separator: comma)
                for json in [
                    "{\(text)}", "{\(text)}".replacing("/", with: "\\/"), "{\(text)}".replacing("\\/", with: "/"),
                ] {
                    variants.append(
                        SigningInputVariant(
                            CompactJWS.signingInput(header: header, payload: Array(json.utf8)), .signedOtherClaims,
                            "The signature is over the same claims in another form (order, spaces or escapes): the "
                                + "payload was encoded again after signing."
                        ))
                }
            }
        }
        return variants + nonceCase(claims)
    }

    private func nonceCase(_ claims: JSONObject) -> [SigningInputVariant] {
        guard let nonce = try? claims["nonce"]?.string() else { return [] }
        let text = String(decoding: payload, as: UTF8.self)
        return [nonce.uppercased(), nonce.lowercased()].map {
            SigningInputVariant(
                CompactJWS.signingInput(header: header, payload: Array(text.replacing(nonce, with: $0).utf8)),
                .signedOtherClaims,
                "The signature is over the nonce \($0): its letter case was changed after signing.")
        }
    }
}
