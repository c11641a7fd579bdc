extension FindingCode {
    var cure: String {
        switch self {
        // The signature's text
        case .signatureRaw:
            "Convert r ‖ s to DER before Base64. Web Crypto, Java's SHA256withECDSAinP1363Format, Node's dsaEncoding "
                + "\"ieee-p1363\" and PKCS #11 give r ‖ s; the legacy signature wants DER."
        case .signatureDER:
            "Convert DER to r ‖ s (64 bytes, each number with leading zeros to 32) before Base64url: RFC 7518 §3.4. "
                + "openssl, KMS services and Java's SHA256withECDSA give DER; a JWS library converts by itself."
        case .signatureDERLenient:
            "Let a library write the DER: an integer whose first bit is set needs a zero byte in front, no other "
                + "leading zeros are allowed, and nothing may follow."
        case .signatureHalvesSwapped: "Put r first, then s."
        case .signatureLittleEndian:
            "Write r and s with the most significant byte first; some libraries keep numbers the other way round."
        case .signatureBase64URL:
            "Encode the signature in standard Base64 (\"+\", \"/\", padded with \"=\"): StoreKit decodes nothing else."
        case .signatureUnpadded: "Keep the \"=\" that standard Base64 ends with; do not strip or add any."
        case .signatureStandardBase64:
            "Encode the signature in Base64url: \"-\" for \"+\", \"_\" for \"/\", no \"=\" (RFC 7515 §2)."
        case .signatureHexadecimal: "Encode the bytes of the signature in Base64, not in hexadecimal."
        case .signatureEncodedTwice:
            "Encode once. Many sign functions return Base64 or hexadecimal text already when they are asked for it."
        case .signatureWhiteSpace:
            "Send the signature in one line without white space; the base64 program breaks lines unless it is called "
                + "with -w0."
        case .signaturePlusLost:
            "Percent-encode \"+\" as %2B when the signature travels in a URL or a form, or send it in a JSON body."
        case .signatureURLEncoded:
            "Decode the URL encoding before the signature is used, or send it in a JSON body, where it needs none."
        case .signatureJSONEscaped:
            "Read the answer with a JSON reader, and use the decoded string: PHP's json_encode writes \\/ for /, and "
                + "other writers \\u002B for + and \\u003D for =."
        case .signatureLeadingZero:
            "Write r and s with 32 bytes each, leading zeros included (RFC 7518 §3.4); a number's own hexadecimal or "
                + "byte text leaves them out."
        case .signatureUnreadable:
            "Look at what the signing server sends: known cases are an error message, a truncated text and a "
                + "certificate. Copy the whole signature."
        // The digest
        case .digestTwice:
            "Give the key the text, if its function hashes (\"SHA256withECDSA\", createSign), or the digest, if it "
                + "does not (\"NONEwithECDSA\", CKM_ECDSA, a KMS with message type DIGEST): never a digest to one that "
                + "hashes."
        case .digestHexadecimal:
            "Sign the 32 bytes of the digest, not their hexadecimal text: ask the hash function for bytes."
        case .digestBase64: "Sign the 32 bytes of the digest, not their Base64 text: ask the hash function for bytes."
        case .digestSHA1, .digestSHA384, .digestSHA512:
            "Choose SHA-256 in the signing function: \"SHA256withECDSA\", \"sha256\", ES256."
        case .digestMissing:
            "Hash the text with SHA-256 first: the function that was used signs what it gets (\"NONEwithECDSA\", "
                + "CKM_ECDSA, elliptic's sign)."
        // The key
        case .keyOther:
            "Sign with the private key whose ID is named, or name the key that signs; and see that the IDs that were "
                + "given with the keys here are right. App Store Connect puts the key ID into the file's name: "
                + "AuthKey_KEYID.p8, SubscriptionKey_KEYID.p8."
        case .keyIDInText:
            "Use one key ID for the signed text and for the answer; after a rotation, both come from the same setting."
        case .keyIDUnchecked:
            "To have the ID checked, too, give it with the key (KEYID=FILE) or use a JWKS with \"kid\"."
        case .keyIDShape: "Copy the key ID from App Store Connect: Users and Access, Integrations, In-App Purchase."
        case .keyIssuerSwapped:
            "Put the key ID (ten characters) into the header's kid, and the issuer ID (a UUID) into the claim iss."
        case .issuerNotUUID:
            "Copy the issuer ID from App Store Connect: the UUID above the list of keys. A Team ID (ten characters) is "
                + "not an issuer ID."
        // Fields of a legacy signature
        case .nonceUpperCase:
            "Write the nonce in lower case wherever it is signed: Swift's uuidString is upper case, and so are the "
                + "UUIDs of some databases."
        case .nonceNotUUID: "Make a new UUID for each signature, and send the same text that was signed."
        case .uuidWithoutDashes: "Write UUIDs with their dashes: 8-4-4-4-12 digits in lower case."
        case .uuidInBraces: "Write UUIDs without braces (.NET: format \"D\")."
        case .accountTokenUpperCase:
            "Lower-case the appAccountToken before it is signed: Swift's uuidString is upper case."
        case .accountTokenNotUUID:
            "If the app sets SKPayment.applicationUsername, give the text as applicationUsername; appAccountToken is a "
                + "UUID."
        case .userNameLowerCase:
            "Sign applicationUsername exactly as the app gives it to StoreKit, or let the app give the lower-cased "
                + "text, too: Apple's server libraries lower-case every value."
        case .userOtherField:
            "Sign the user's name that the app gives to StoreKit with this purchase: appAccountToken or "
                + "applicationUsername, and the same value."
        case .userNameHashed:
            "Hash in both places or in none: what is signed must be what the app sets as applicationUsername."
        case .userSeparatorMissing:
            "Keep the field when there is no user: it is empty, and the separators on both sides of it stay, six in "
                + "all."
        case .timestampSeconds:
            "Sign and answer milliseconds since 1970: multiply seconds by 1000 (13 digits these days)."
        case .timestampAnswerSeconds: "Answer the same milliseconds that were signed."
        case .timestampRounded, .timestampOtherMoment:
            "Read the clock once, keep the number, and use it for signing and for the answer."
        case .timestampTimeZone: "Take milliseconds since 1970 in UTC from the system's clock, not from a local date."
        case .timestampReferenceDate: "Use timeIntervalSince1970, not timeIntervalSinceReferenceDate."
        case .timestampFraction: "Use an integer: a floating-point number is written with \".0\" or an exponent."
        case .timestampGrouped: "Write the number without groups: the locale must not change it."
        case .timestampFiner: "Divide down to milliseconds (13 digits these days)."
        case .timestampDate: "Sign the number of milliseconds since 1970, not a date."
        case .timestampNotNumber: "Answer the milliseconds since 1970 as an integer."
        case .fieldOrder:
            "Sign in this order: appBundleID, keyIdentifier, productIdentifier, offerIdentifier, appAccountToken or "
                + "applicationUsername, nonce, timestamp."
        case .productOfferSwapped:
            "Put productIdentifier before offerIdentifier, and check where the two are swapped: in the app or on the "
                + "server."
        case .fieldMissing: "Sign all seven fields, and the six separators between them."
        case .fieldEmpty:
            "Find out why the value is empty on the signing server: a parameter of another name, or one looked for in "
                + "the query when it comes in the body."
        case .fieldUndefined:
            "The signing server did not find the parameter and signed JavaScript's word for that. Look for it in the "
                + "right place (query or body) under the right name, and refuse requests without it."
        case .fieldNull:
            "The signing server had no value and signed its language's word for that. Sign an empty text for an absent "
                + "user; refuse requests without the other fields."
        case .fieldOptional: "Unwrap the optional before it goes into the text."
        case .fieldCase: "Sign the value exactly as App Store Connect and the app have it, letter case included."
        case .fieldWhiteSpace:
            "Sign the value exactly as App Store Connect and the app have it; trim what is read from files and "
                + "environment variables."
        case .fieldQuoted:
            "Sign the value without quotation marks: it was taken from JSON or an environment file without being read "
                + "as such."
        case .fieldURLEncoded: "Decode parameters of a URL before they are signed."
        case .fieldURLDecoded:
            "Decode once: the framework has decoded the parameter already. Send a literal \"+\" as %2B."
        case .fieldJSONEscaped: "Read JSON with a JSON reader, and sign the decoded string."
        case .fieldNormalised:
            "Sign the bytes that the app gives to StoreKit: normalise nowhere, or the same way on both sides."
        case .fieldSeparatorInside: "Refuse such a value: with the separator inside, one field can pass for two."
        case .fieldInvisible:
            "Compare the value byte by byte with App Store Connect's: copying from documents and chats inserts such "
                + "characters."
        // Joining the fields
        case .separatorMissing:
            "Put U+2063 INVISIBLE SEPARATOR (bytes e2 81 a3) between the fields. It is easily lost when copied from a "
                + "page, so write it as an escape."
        case .separatorOneMissing: "Join a list of the seven fields with the separator instead of adding texts by hand."
        case .separatorLiteral:
            "Write the escape so that your language reads it: '\\u2063' in JavaScript, Java and Python, \"\\u{2063}\" "
                + "in Swift, PHP (double quotes only) and Ruby, $'\\u2063' in bash."
        case .separatorOther: "Join with U+2063 INVISIBLE SEPARATOR: bytes e2 81 a3 in UTF-8."
        case .separatorTrailing, .separatorLeading: "Put separators between the fields only: six for seven fields."
        // The whole text
        case .textUTF16: "Encode the text in UTF-8 before it is hashed (.NET: Encoding.UTF8, not Encoding.Unicode)."
        case .textUTF8Twice: "Encode once: the text was UTF-8 already, was read as Latin-1 and encoded again."
        case .textLatin1:
            "Encode the text in UTF-8 before it is hashed: getBytes(StandardCharsets.UTF_8), not the platform's or "
                + "ISO-8859-1."
        case .textByteOrderMark: "Encode without a byte order mark (\"utf-8\", not \"utf-8-sig\")."
        case .textNewline: "Sign without a line feed: printf '%s' instead of echo, echo -n, no println."
        case .textZeroByte: "Leave out the zero that ends a string of C: sign strlen bytes, not sizeof."
        case .textCase: "Lower-case only the nonce and the appAccountToken."
        case .textBase64, .textHexadecimal: "Sign the text itself; only the signature is encoded."
        case .textURLEncoded: "Sign the text itself, in UTF-8."
        case .textQuoted: "Sign the text itself: no JSON.stringify."
        // Time
        case .offerExpired: "Ask for a new signature for each purchase, just before it; each is valid for one purchase."
        case .issuedLongAgo: "Ask for a new token for each purchase, just before it; each is valid for one request."
        case .issuedInFuture: "Set the clock of the signing server (NTP), or this machine's."
        // A token's text
        case .tokenWhiteSpace: "Pass the token in one line without white space; trim the line feed of a file."
        case .tokenQuoted: "Read the JSON string and pass the decoded text, without quotation marks."
        case .tokenPrefix: "Pass the token alone: StoreKit accepts no \"Bearer\"."
        case .tokenParts: "Copy the whole token: header, payload and signature, with dots between."
        case .tokenPartStandardBase64:
            "Encode each part in Base64url: \"-\" for \"+\", \"_\" for \"/\" (RFC 7515 §2), before signing."
        case .tokenPartPadded: "Leave out the \"=\" at the end of each part (RFC 7515 §2), before signing."
        case .tokenPartUnreadable: "Encode the UTF-8 of the JSON in Base64url; copy the token whole."
        // A token's signing input
        case .signedOtherEncoding: "Encode both parts first, sign those bytes, and put the same bytes into the token."
        case .signedPayloadOnly, .signedHeaderOnly:
            "Sign header and payload: BASE64URL(header) + \".\" + BASE64URL(payload) (RFC 7515 §5.1)."
        case .signedUnencoded:
            "Sign the text of the token: BASE64URL(header) + \".\" + BASE64URL(payload) (RFC 7515 §5.1)."
        case .signedWithoutDot: "Sign the dot between the parts, too (RFC 7515 §5.1)."
        case .signedTrailingDot: "Sign only up to the end of the payload's part (RFC 7515 §5.1)."
        case .signedPartsSwapped: "Put the header first (RFC 7515 §5.1)."
        case .signedOtherHeader: "Give the library kid and typ before it signs; change nothing afterwards."
        case .signedOtherClaims:
            "Send the token as it was signed: no proxy and no model class may decode and encode it again."
        // A token's header
        case .headerNotJSON: "Make the header a JSON object with alg, kid and typ, each once."
        case .headerMemberMissing, .headerMemberUnknown, .headerMemberKind:
            "Make the header exactly {\"alg\":\"ES256\",\"kid\":\"<key ID>\",\"typ\":\"JWT\"}."
        case .headerAlgorithm: "Sign with ES256 (ECDSA over P-256 with SHA-256), and name it in alg."
        case .headerType: "Set typ to \"JWT\", in upper case."
        // A token's claims
        case .claimsNotJSON: "Make the payload one JSON object, with each claim once."
        case .claimMissing:
            "Add the claim; the audience decides which are needed (Apple: \"Generating JWS to sign App Store "
                + "requests\")."
        case .claimUnknown:
            "Remove the claim: Apple accepts the documented ones only. JWT libraries add some by themselves (jti, nbf, "
                + "sub, exp)."
        case .claimMisspelled: "Use Apple's spelling, letter case included."
        case .claimExpiration:
            "Remove exp; it belongs in tokens for Apple's server APIs. Many JWT libraries add it when a lifetime is "
                + "set."
        case .claimNull: "Leave the claim out when there is no value."
        case .claimKind:
            "Write the value as the kind that Apple's page names: strings in quotation marks, true and false without."
        case .claimEmpty: "Give the claim its value; leave transactionId out of a promotional offer when there is none."
        case .transactionIDNumber: "Write transactionId as a string, in quotation marks."
        case .issuedAtFraction:
            "If Apple refuses the token and nothing else is wrong, round down to whole seconds, as an integer: that is "
                + "what Apple's page shows."
        case .issuedAtMilliseconds: "Divide by 1000: iat counts seconds (10 digits these days)."
        case .issuedAtFiner: "Divide down to seconds (10 digits these days)."
        case .issuedAtText: "Write iat as a number, without quotation marks."
        case .issuedAtRange: "Write iat as seconds since 1970 (10 digits these days), from a correct clock."
        case .audienceArray: "Write aud as one string; some JWT libraries make an array unless told otherwise."
        case .audienceUnknown: "Use one of the audiences that StoreKit accepts."
        case .audienceServerAPI: "Make another token for StoreKit, without exp, with one of its audiences."
        case .audienceWrong: "Use the audience and the claims of the same feature."
        case .appDiffers: "Sign with the bundle ID of the app that makes the purchase."
        // The claim request
        case .requestObject, .requestPlain:
            "Encode the JSON text of the request in standard Base64, and make that string the claim."
        case .requestBase64URL:
            "Use standard Base64 with padding for the claim; Base64url is for the parts of the token only."
        case .requestNotBase64: "Encode the JSON text of the request in standard Base64, in one line."
        case .requestNotJSON: "Encode the UTF-8 of one JSON object."
        case .requestEncodedTwice: "Encode the JSON text once."
        case .requestIncomplete: "Add the member; every object of this claim has it."
        // No explanation
        case .unexplained:
            "Check in this order: (1) Is this the public key of the private key that signed? Compare fingerprints "
                + "where both are. (2) Are the fields those that were signed, byte for byte? Log the SHA-256 of the "
                + "signed bytes on the signing server and compare it with the one here. (3) Is it an In-App Purchase "
                + "key? Keys for the App Store Connect API, APNs or DeviceCheck look the same. (4) Was the answer "
                + "cached, mixed up with another request's, or changed on its way?"
        }
    }
}
