import Crypto
import Encodings
import SignatureExplanation
import Testing

/// A token with one mistake, and the code that the examiner must find.
struct TokenMistake: CustomTestStringConvertible, Sendable {
    let code: FindingCode
    let detail: String
    let make: @Sendable () throws -> String

    init(_ code: FindingCode, _ detail: String = "", _ make: @escaping @Sendable () throws -> String) {
        self.code = code
        self.detail = detail
        self.make = make
    }

    var testDescription: String { detail.isEmpty ? code.rawValue : "\(code.rawValue): \(detail)" }

    /// A correctly signed token with other contents.
    static func form(_ code: FindingCode, _ detail: String = "", _ fixture: TokenFixture) -> TokenMistake {
        TokenMistake(code, detail) { try fixture.token() }
    }

    /// The right claims with one text replaced.
    static func claim(_ code: FindingCode, _ text: String, _ other: String) -> TokenMistake {
        form(code, other, TokenFixture().replacing(text, other))
    }

    static func header(_ code: FindingCode, _ header: String) -> TokenMistake {
        form(code, header, TokenFixture().withHeader(header))
    }

    /// The right token with a signature over other bytes.
    static func signing(
        _ code: FindingCode, _ detail: String = "", _ bytes: @escaping @Sendable (TokenFixture) -> [UInt8]
    )
        -> TokenMistake
    {
        TokenMistake(code, detail) { try TokenFixture().token(signing: bytes(TokenFixture())) }
    }
}

/// At least one example of each mistake.
enum TokenMistakes {
    static let all = claims + audiences + requests + headers + texts + inputs

    private static let claims: [TokenMistake] = [
        .claim(.nonceNotUUID, TokenFixture.nonce, "once"),
        .claim(.iatMilliseconds, "1698148900", "1698148900123"),
        .claim(.iatMilliseconds, "1698148900", "1698148900123.5"),
        .claim(.iatFiner, "1698148900", "1698148900123456"),
        .claim(.iatFiner, "1698148900", "1698148900123456789"),
        .claim(.iatRange, "1698148900", "1e300"), .claim(.iatRange, "1698148900", "-1.5"),
        .claim(.iatText, "1698148900", "\"1698148900\""), .claim(.iatRange, "1698148900", "719841700"),
        .claim(.claimExp, "{", "{\"exp\":1698149200,"), .claim(.claimUnknown, "{", "{\"jti\":\"x\","),
        .claim(.claimMissing, "\"productId\":\"premium\",", ""),
        .claim(.claimMissing, ",\"nonce\":\"\(TokenFixture.nonce)\"", ""),
        .claim(.claimMisspelled, "productId", "productID"), .claim(.claimMisspelled, "offerIdentifier", "offerId"),
        .claim(.claimNull, "\"42\"", "null"), .claim(.transactionIDNumber, "\"42\"", "42"),
        .claim(.claimKind, "\"premium\"", "7"), .claim(.claimEmpty, "\"premium\"", "\"\""),
        .claim(.fieldUndefined, "\"premium\"", "\"undefined\""), .claim(.fieldNull, "winter50", "null"),
        .form(
            .claimKind, "allowIntroductoryOffer as a text",
            .audience("introductory-offer-eligibility", TokenFixture.eligibility).replacing("true", "\"true\"")),
        .form(.claimsNotJSON, "", TokenFixture(claims: "not JSON")),
        .claim(.claimsNotJSON, "{", "{\"iat\":1,"),
    ]

    private static let audiences: [TokenMistake] = [
        .claim(.audienceArray, "\"promotional-offer\"", "[\"promotional-offer\"]"),
        .claim(.audienceUnknown, "promotional-offer", "promo"),
        .claim(.audienceServerAPI, "promotional-offer", "appstoreconnect-v1"),
        .claim(.audienceWrong, "promotional-offer", "introductory-offer-eligibility"),
        .form(.audienceWrong, "eligibility as an offer", .audience("promotional-offer", TokenFixture.eligibility)),
        .claim(.claimMissing, "\"aud\":\"promotional-offer\",", ""),
    ]

    private static let requests: [TokenMistake] = [
        .form(.requestObject, "", .request(TokenFixture.request)),
        .form(.requestPlain, "", .request("\"" + TokenFixture.request.replacing("\"", with: "\\\"") + "\"")),
        .form(
            .requestBase64url, "",
            .request("\"\(TokenFixture.part(TokenFixture.request.replacing("{}", with: "{\"a\":\"??>\"}")))\"")),
        .form(.requestNotBase64, "", .request("\"a b!\"")), .form(.requestNotJSON, "", .encodedRequest("hello")),
        .form(.requestEncodedTwice, "", .encodedRequest(LegacyFixture.base64(Array(TokenFixture.request.utf8)))),
        .form(.requestIncomplete, "", .encodedRequest(TokenFixture.request.replacing("version", with: "Version"))),
    ]

    private static let headers: [TokenMistake] = [
        .header(.headerMemberMissing, #"{"alg":"ES256","kid":"2X9R4HXF34"}"#),
        .header(.headerMemberMissing, #"{"alg":"ES256","typ":"JWT"}"#),
        .header(.headerMemberUnknown, #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT","x5c":[]}"#),
        .header(.headerMemberKind, #"{"alg":"ES256","kid":7,"typ":"JWT"}"#),
        .header(.headerAlg, #"{"alg":"ES384","kid":"2X9R4HXF34","typ":"JWT"}"#),
        .header(.headerTyp, #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"jwt"}"#), .header(.headerNotJSON, "ES256"),
        .header(.keyOther, #"{"alg":"ES256","kid":"7QK3M5LZ90","typ":"JWT"}"#),
        TokenMistake(.keyIssuerSwapped) {
            var fixture = TokenFixture().replacing("57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34")
            fixture.header = fixture.header.replacing("2X9R4HXF34", with: "57246542-96fe-1a63-e053-0824d011072a")
            let key = CandidateKey(keyID: nil, label: "public.pem", publicKey: LegacyFixture.key.publicKey)
            #expect(TokenFixture.examine(try fixture.token(), keys: [key]).findings.first?.code == .keyIssuerSwapped)
            return try fixture.token()
        },
        TokenMistake(.keyIssuerSwapped, "with the key's ID known") {
            var fixture = TokenFixture().replacing("57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34")
            fixture.header = fixture.header.replacing("2X9R4HXF34", with: "57246542-96fe-1a63-e053-0824d011072a")
            #expect(TokenFixture.examine(try fixture.token()).findings.first?.code == .keyIssuerSwapped)
            return try fixture.token()
        },
        TokenMistake(.headerAlg, "none") {
            TokenFixture().withHeader(#"{"alg":"none","kid":"2X9R4HXF34","typ":"JWT"}"#).signingInput + "."
        },
        TokenMistake(.headerAlg, "HS256") {
            let input = TokenFixture().withHeader(#"{"alg":"HS256","kid":"2X9R4HXF34","typ":"JWT"}"#).signingInput
            let code = HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: SymmetricKey(size: .bits256))
            return input + "." + TokenFixture.part(Array(code))
        },
    ]

    private static let texts: [TokenMistake] = [
        TokenMistake(.tokenWhiteSpace) { try TokenFixture().token() + "\n" },
        TokenMistake(.tokenQuoted) { try "\"\(TokenFixture().token())\"" },
        TokenMistake(.tokenPrefix) { try "Bearer \(TokenFixture().token())" },
        TokenMistake(.tokenParts) { try TokenFixture().token() + ".e30" },
        TokenMistake(.signatureUnreadable) { TokenFixture().signingInput + ".c2ln" },
        TokenMistake(.signatureDER) { try TokenFixture().token { TokenFixture.part(Array($0.derRepresentation)) } },
        TokenMistake(.signatureStandardBase64) {
            try TokenFixture().token { LegacyFixture.base64(Array($0.rawRepresentation)) }
        },
        TokenMistake(.signatureHex) { try TokenFixture().token { LegacyFixture.hex($0.rawRepresentation) } },
        TokenMistake(.signatureEncodedTwice) {
            try TokenFixture().token { TokenFixture.part(LegacyFixture.base64(Array($0.rawRepresentation))) }
        },
        TokenMistake(.signatureHalvesSwapped) {
            try TokenFixture().token {
                let raw = Array($0.rawRepresentation)
                return TokenFixture.part(raw[32...] + raw[..<32])
            }
        },
        TokenMistake(.signatureLeadingZero, "r") { try withoutLeadingZero(at: 0) },
        TokenMistake(.signatureLeadingZero, "s") { try withoutLeadingZero(at: 32) },
        TokenMistake(.signatureLeadingZero, "in hexadecimal") {
            while true {
                let token = try TokenFixture().token { LegacyFixture.hex($0.rawRepresentation) }
                let digits = token.suffix(128)
                // The mistake also drops single zeros.
                guard digits.first == "0" || digits.dropFirst(64).first == "0" else { continue }
                let numbers = [digits.prefix(64), digits.suffix(64)].map { $0.drop { $0 == "0" } }
                return String(token.dropLast(128)) + numbers.joined()
            }
        },
        TokenMistake(.tokenPartPadded) {
            try signed(LegacyFixture.base64(Array(#"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#.utf8)))
        },
        TokenMistake(.tokenPartStandardBase64) {
            let text = TokenFixture().claims.replacing("premium", with: "???>>>???")
            let part = LegacyFixture.base64(Array(text.utf8)).replacing("=", with: "")
            #expect(part.contains("+") || part.contains("/"))
            return try signed(TokenFixture.part(TokenFixture().header), part)
        },
        TokenMistake(.tokenPartUnreadable) { try signed("!!!") },
    ]

    /// Signs again until r or s begins with a zero byte, and omits that byte.
    private static func withoutLeadingZero(at half: Int) throws -> String {
        while true {
            var isShorter = false
            let token = try TokenFixture().token { signature in
                var raw = Array(signature.rawRepresentation)
                isShorter = raw[half] == 0 && raw[half + 1] != 0
                if isShorter { raw.remove(at: half) }
                return TokenFixture.part(raw)
            }
            if isShorter { return token }
        }
    }

    private static func signed(_ header: String, _ payload: String = TokenFixture.part(TokenFixture().claims)) throws
        -> String
    {
        let input = header + "." + payload
        let signature = try LegacyFixture.key.signature(for: Array(input.utf8))
        return input + "." + TokenFixture.part(Array(signature.rawRepresentation))
    }

    private static let inputs: [TokenMistake] = [
        .signing(.signedPayloadOnly) { Array(TokenFixture.part($0.claims).utf8) },
        .signing(.signedPayloadOnly, "JSON") { Array($0.claims.utf8) },
        .signing(.signedHeaderOnly) { Array(TokenFixture.part($0.header).utf8) },
        .signing(.signedUnencoded) { Array("\($0.header).\($0.claims)".utf8) },
        .signing(.signedWithoutDot) { Array((TokenFixture.part($0.header) + TokenFixture.part($0.claims)).utf8) },
        .signing(.signedPartsSwapped) { Array("\(TokenFixture.part($0.claims)).\(TokenFixture.part($0.header))".utf8) },
        .signing(.signedTrailingDot) { Array("\($0.signingInput).".utf8) },
        .signing(.signedOtherEncoding) {
            Array("\(LegacyFixture.base64(Array($0.header.utf8))).\(LegacyFixture.base64(Array($0.claims.utf8)))".utf8)
        },
        .signing(.signedOtherHeader) { Array($0.withHeader(#"{"typ":"JWT","alg":"ES256"}"#).signingInput.utf8) },
        .signing(.signedOtherHeader, "another kid") {
            Array($0.withHeader(#"{"alg":"ES256","kid":"7QK3M5LZ90","typ":"JWT"}"#).signingInput.utf8)
        },
        .signing(.signedOtherClaims, "spaces") {
            Array($0.replacing("\",\"", "\", \"").replacing(",\"aud", ", \"aud").replacing(":", ": ").signingInput.utf8)
        },
        .signing(.signedOtherClaims, "nonce") {
            Array($0.replacing(TokenFixture.nonce, TokenFixture.nonce.uppercased()).signingInput.utf8)
        },
        .signing(.textNewline) { Array("\($0.signingInput)\n".utf8) },
        .signing(.textZeroByte) { Array($0.signingInput.utf8) + [0] },
        .signing(.textUTF16) { $0.signingInput.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } },
        .signing(.textBase64) { Base64.standard.encode(Array($0.signingInput.utf8)) },
        .signing(.textHex) { Array(LegacyFixture.hex($0.signingInput.utf8).utf8) },
        .signing(.digestTwice) { Array(SHA256.hash(data: Array($0.signingInput.utf8))) },
        .signing(.digestHex) { Array(LegacyFixture.hex(SHA256.hash(data: Array($0.signingInput.utf8))).utf8) },
        TokenMistake(.digestSHA512) {
            let digest = SHA512.hash(data: Array(TokenFixture().signingInput.utf8))
            let signature = try LegacyFixture.key.signature(for: digest)
            return TokenFixture().signingInput + "." + TokenFixture.part(Array(signature.rawRepresentation))
        },
        TokenMistake(.keyOther) { try TokenFixture().token(key: LegacyFixture.otherKey) },
    ]
}
