extension FindingCode {
    /// The remedy, in one or more sentences.
    var cure: String { Self.cures[rawValue] ?? "" }

    private static let cures: [String: String] = table.split(separator: "\n").reduce(into: [:]) { cures, line in
        guard let colon = line.firstRange(of: ": ") else { return }
        for code in line[..<colon.lowerBound].split(separator: ", ") {
            cures[String(code)] = String(line[colon.upperBound...])
        }
    }

    /// The codes and their remedy, a line for each remedy. A test checks that there is one for every code.
    private static let table = #"""
        signature-raw: Convert r ‖ s to DER before Base64. Web Crypto, Java's SHA256withECDSAinP1363Format, Node's \#
        dsaEncoding "ieee-p1363" and PKCS #11 give r ‖ s; the legacy signature wants DER.
        signature-der: Convert DER to r ‖ s (64 bytes, each number with leading zeros to 32) before Base64url: RFC \#
        7518 §3.4. openssl, KMS services and Java's SHA256withECDSA give DER; a JWS library converts by itself.
        signature-der-lax: Let a library write the DER: an integer whose first bit is set needs a zero byte in \#
        front, no other leading zeros are allowed, and nothing may follow.
        signature-halves-swapped: Put r first, then s.
        signature-little-endian: Write r and s with the most significant byte first; some libraries keep numbers the \#
        other way round.
        signature-base64url: Encode the signature in standard Base64 ("+", "/", padded with "="): StoreKit decodes \#
        nothing else.
        signature-unpadded: Keep the "=" that standard Base64 ends with; do not strip or add any.
        signature-standard-base64: Encode the signature in Base64url: "-" for "+", "_" for "/", no "=" (RFC 7515 §2).
        signature-hex: Encode the bytes of the signature in Base64, not in hexadecimal.
        signature-encoded-twice: Encode once. Many sign functions return Base64 or hexadecimal text already when \#
        they are asked for it.
        signature-white-space: Send the signature in one line without white space; the base64 program breaks lines \#
        unless it is called with -w0.
        signature-plus-lost: Percent-encode "+" as %2B when the signature travels in a URL or a form, or send it in \#
        a JSON body.
        signature-url-encoded: Decode the URL encoding before the signature is used, or send it in a JSON body, \#
        where it needs none.
        signature-json-escaped: Read the answer with a JSON reader, and use the decoded string: PHP's json_encode \#
        writes \/ for /, and other writers \u002B for + and \u003D for =.
        signature-leading-zero: Write r and s with 32 bytes each, leading zeros included (RFC 7518 §3.4); a number's \#
        own hexadecimal or byte text leaves them out.
        signature-unreadable: Look at what the signing server sends: known cases are an error message, a truncated \#
        text and a certificate. Copy the whole signature.
        digest-twice: Give the key the text, if its function hashes ("SHA256withECDSA", createSign), or the digest, \#
        if it does not ("NONEwithECDSA", CKM_ECDSA, a KMS with message type DIGEST): never a digest to one that hashes.
        digest-hex: Sign the 32 bytes of the digest, not their hexadecimal text: ask the hash function for bytes.
        digest-base64: Sign the 32 bytes of the digest, not their Base64 text: ask the hash function for bytes.
        digest-sha1, digest-sha384, digest-sha512: Choose SHA-256 in the signing function: "SHA256withECDSA", \#
        "sha256", ES256.
        digest-missing: Hash the text with SHA-256 first: the function that was used signs what it gets \#
        ("NONEwithECDSA", CKM_ECDSA, elliptic's sign).
        key-other: Sign with the private key whose ID is named, or name the key that signs; and see that the IDs \#
        that were given with the keys here are right. App Store Connect puts the key ID into the file's name: \#
        AuthKey_KEYID.p8, SubscriptionKey_KEYID.p8.
        key-id-in-text: Use one key ID for the signed text and for the answer; after a rotation, both come from the \#
        same setting.
        key-id-unchecked: To have the ID checked, too, give it with the key (KEYID=FILE) or use a JWKS with "kid".
        key-id-shape: Copy the key ID from App Store Connect: Users and Access, Integrations, In-App Purchase.
        key-issuer-swapped: Put the key ID (ten characters) into the header's kid, and the issuer ID (a UUID) into \#
        the claim iss.
        issuer-not-uuid: Copy the issuer ID from App Store Connect: the UUID above the list of keys. A Team ID (ten \#
        characters) is not an issuer ID.
        nonce-upper-case: Write the nonce in lower case wherever it is signed: Swift's uuidString is upper case, and \#
        so are the UUIDs of some databases.
        nonce-not-uuid: Make a new UUID for each signature, and send the same text that was signed.
        uuid-without-dashes: Write UUIDs with their dashes: 8-4-4-4-12 digits in lower case.
        uuid-in-braces: Write UUIDs without braces (.NET: format "D").
        account-token-upper-case: Lower-case the appAccountToken before it is signed: Swift's uuidString is upper case.
        account-token-not-uuid: If the app sets SKPayment.applicationUsername, give the text as applicationUsername; \#
        appAccountToken is a UUID.
        user-name-lower-case: Sign applicationUsername exactly as the app gives it to StoreKit, or let the app give \#
        the lower-cased text, too: Apple's server libraries lower-case every value.
        user-other-field: Sign the user's name that the app gives to StoreKit with this purchase: appAccountToken or \#
        applicationUsername, and the same value.
        user-name-hashed: Hash in both places or in none: what is signed must be what the app sets as \#
        applicationUsername.
        user-separator-missing: Keep the field when there is no user: it is empty, and the separators on both sides \#
        of it stay, six in all.
        timestamp-seconds: Sign and answer milliseconds since 1970: multiply seconds by 1000 (13 digits these days).
        timestamp-answer-seconds: Answer the same milliseconds that were signed.
        timestamp-rounded, timestamp-other-moment: Read the clock once, keep the number, and use it for signing and \#
        for the answer.
        timestamp-time-zone: Take milliseconds since 1970 in UTC from the system's clock, not from a local date.
        timestamp-reference-date: Use timeIntervalSince1970, not timeIntervalSinceReferenceDate.
        timestamp-fraction: Use an integer: a floating-point number is written with ".0" or an exponent.
        timestamp-grouped: Write the number without groups: the locale must not change it.
        timestamp-finer: Divide down to milliseconds (13 digits these days).
        timestamp-date: Sign the number of milliseconds since 1970, not a date.
        timestamp-not-number: Answer the milliseconds since 1970 as an integer.
        field-order: Sign in this order: appBundleID, keyIdentifier, productIdentifier, offerIdentifier, \#
        appAccountToken or applicationUsername, nonce, timestamp.
        product-offer-swapped: Put productIdentifier before offerIdentifier, and check where the two are swapped: in \#
        the app or on the server.
        field-missing: Sign all seven fields, and the six separators between them.
        field-empty: Find out why the value is empty on the signing server: a parameter of another name, or one \#
        looked for in the query when it comes in the body.
        field-undefined: The signing server did not find the parameter and signed JavaScript's word for that. Look \#
        for it in the right place (query or body) under the right name, and refuse requests without it.
        field-null: The signing server had no value and signed its language's word for that. Sign an empty text for \#
        an absent user; refuse requests without the other fields.
        field-optional: Unwrap the optional before it goes into the text.
        field-case: Sign the value exactly as App Store Connect and the app have it, letter case included.
        field-white-space: Sign the value exactly as App Store Connect and the app have it; trim what is read from \#
        files and environment variables.
        field-quoted: Sign the value without quotation marks: it was taken from JSON or an environment file without \#
        being read as such.
        field-url-encoded: Decode parameters of a URL before they are signed.
        field-url-decoded: Decode once: the framework has decoded the parameter already. Send a literal "+" as %2B.
        field-json-escaped: Read JSON with a JSON reader, and sign the decoded string.
        field-normalised: Sign the bytes that the app gives to StoreKit: normalise nowhere, or the same way on both \#
        sides.
        field-separator-inside: Refuse such a value: with the separator inside, one field can pass for two.
        field-invisible: Compare the value byte by byte with App Store Connect's: copying from documents and chats \#
        inserts such characters.
        separator-missing: Put U+2063 INVISIBLE SEPARATOR (bytes e2 81 a3) between the fields. It is easily lost \#
        when copied from a page, so write it as an escape.
        separator-one-missing: Join a list of the seven fields with the separator instead of adding texts by hand.
        separator-literal: Write the escape so that your language reads it: '\u2063' in JavaScript, Java and Python, \#
        "\u{2063}" in Swift, PHP (double quotes only) and Ruby, $'\u2063' in bash.
        separator-other: Join with U+2063 INVISIBLE SEPARATOR: bytes e2 81 a3 in UTF-8.
        separator-trailing, separator-leading: Put separators between the fields only: six for seven fields.
        text-utf16: Encode the text in UTF-8 before it is hashed (.NET: Encoding.UTF8, not Encoding.Unicode).
        text-utf8-twice: Encode once: the text was UTF-8 already, was read as Latin-1 and encoded again.
        text-latin1: Encode the text in UTF-8 before it is hashed: getBytes(StandardCharsets.UTF_8), not the \#
        platform's or ISO-8859-1.
        text-byte-order-mark: Encode without a byte order mark ("utf-8", not "utf-8-sig").
        text-newline: Sign without a line feed: printf '%s' instead of echo, echo -n, no println.
        text-zero-byte: Leave out the zero that ends a string of C: sign strlen bytes, not sizeof.
        text-case: Lower-case only the nonce and the appAccountToken.
        text-base64, text-hex: Sign the text itself; only the signature is encoded.
        text-url-encoded: Sign the text itself, in UTF-8.
        text-quoted: Sign the text itself: no JSON.stringify.
        offer-expired: Ask for a new signature for each purchase, just before it; each is valid for one purchase.
        issued-long-ago: Ask for a new token for each purchase, just before it; each is valid for one request.
        issued-in-future: Set the clock of the signing server (NTP), or this machine's.
        token-white-space: Pass the token in one line without white space; trim the line feed of a file.
        token-quoted: Read the JSON string and pass the decoded text, without quotation marks.
        token-prefix: Pass the token alone: StoreKit accepts no "Bearer".
        token-parts: Copy the whole token: header, payload and signature, with dots between.
        token-part-standard-base64: Encode each part in Base64url: "-" for "+", "_" for "/" (RFC 7515 §2), before \#
        signing.
        token-part-padded: Leave out the "=" at the end of each part (RFC 7515 §2), before signing.
        token-part-unreadable: Encode the UTF-8 of the JSON in Base64url; copy the token whole.
        signed-other-encoding: Encode both parts first, sign those bytes, and put the same bytes into the token.
        signed-payload-only, signed-header-only: Sign header and payload: BASE64URL(header) + "." + \#
        BASE64URL(payload) (RFC 7515 §5.1).
        signed-unencoded: Sign the text of the token: BASE64URL(header) + "." + BASE64URL(payload) (RFC 7515 §5.1).
        signed-without-dot: Sign the dot between the parts, too (RFC 7515 §5.1).
        signed-trailing-dot: Sign only up to the end of the payload's part (RFC 7515 §5.1).
        signed-parts-swapped: Put the header first (RFC 7515 §5.1).
        signed-other-header: Give the library kid and typ before it signs; change nothing afterwards.
        signed-other-claims: Send the token as it was signed: no proxy and no model class may decode and encode it \#
        again.
        header-not-json: Make the header a JSON object with alg, kid and typ, each once.
        header-member-missing, header-member-unknown, header-member-kind: Make the header exactly \#
        {"alg":"ES256","kid":"<key ID>","typ":"JWT"}.
        header-alg: Sign with ES256 (ECDSA over P-256 with SHA-256), and name it in alg.
        header-typ: Set typ to "JWT", in upper case.
        claims-not-json: Make the payload one JSON object, with each claim once.
        claim-missing: Add the claim; the audience decides which are needed (Apple: "Generating JWS to sign App \#
        Store requests").
        claim-unknown: Remove the claim: Apple accepts the documented ones only. JWT libraries add some by \#
        themselves (jti, nbf, sub, exp).
        claim-misspelled: Use Apple's spelling, letter case included.
        claim-exp: Remove exp; it belongs in tokens for Apple's server APIs. Many JWT libraries add it when a \#
        lifetime is set.
        claim-null: Leave the claim out when there is no value.
        claim-kind: Write the value as the kind that Apple's page names: strings in quotation marks, true and false \#
        without.
        claim-empty: Give the claim its value; leave transactionId out of a promotional offer when there is none.
        transaction-id-number: Write transactionId as a string, in quotation marks.
        iat-fraction: If Apple refuses the token and nothing else is wrong, round down to whole seconds, as an \#
        integer: that is what Apple's page shows.
        iat-milliseconds: Divide by 1000: iat counts seconds (10 digits these days).
        iat-finer: Divide down to seconds (10 digits these days).
        iat-text: Write iat as a number, without quotation marks.
        iat-range: Write iat as seconds since 1970 (10 digits these days), from a correct clock.
        audience-array: Write aud as one string; some JWT libraries make an array unless told otherwise.
        audience-unknown: Use one of the audiences that StoreKit accepts.
        audience-server-api: Make another token for StoreKit, without exp, with one of its audiences.
        audience-wrong: Use the audience and the claims of the same feature.
        app-differs: Sign with the bundle ID of the app that makes the purchase.
        request-object, request-plain: Encode the JSON text of the request in standard Base64, and make that string \#
        the claim.
        request-base64url: Use standard Base64 with padding for the claim; Base64url is for the parts of the token only.
        request-not-base64: Encode the JSON text of the request in standard Base64, in one line.
        request-not-json: Encode the UTF-8 of one JSON object.
        request-encoded-twice: Encode the JSON text once.
        request-incomplete: Add the member; every object of this claim has it.
        unexplained: Check in this order: (1) Is this the public key of the private key that signed? Compare \#
        fingerprints where both are. (2) Are the fields those that were signed, byte for byte? Log the SHA-256 of \#
        the signed bytes on the signing server and compare it with the one here. (3) Is it an In-App Purchase key? \#
        Keys for the App Store Connect API, APNs or DeviceCheck look the same. (4) Was the answer cached, mixed up \#
        with another request's, or changed on its way?
        """#
}
