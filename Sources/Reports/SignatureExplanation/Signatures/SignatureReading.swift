import Encodings
import SigningKit

/// Reads a signature's text leniently: its 64 bytes, and findings about its encoding.
struct SignatureReading: Sendable {
    /// The required encoding of a signature.
    enum Form: Sendable {
        /// DER in padded Base64: the legacy signature.
        case der
        /// r ‖ s in Base64url without padding: the third part of a JWS.
        case raw
    }

    /// At least one. There are several if r or s may lack leading zeros.
    let candidates: [P256Signature]
    let findings: [Finding]

    /// Nil if the text does not contain 64 bytes of a signature.
    init?(_ text: [UInt8], wanted form: Form) {
        var findings: [Finding] = []
        let plain = Self.unescape(text, &findings)
        var reading = Self(plain.trimming { $0 <= 0x20 }, of: plain, form, findings)
        if !reading.isWhole {
            // A space at an end may be a lost "+". It is one if the signature is complete with it.
            let withSpaces = Self(plain.trimming { $0 < 0x20 }, of: plain, form, findings)
            if withSpaces.isWhole { reading = withSpaces }
        }
        guard !reading.candidates.isEmpty else { return nil }
        self = reading
    }

    private init(_ trimmed: [UInt8], of text: [UInt8], _ form: Form, _ findings: [Finding]) {
        var findings = findings
        let characters = Self.clean(trimmed, of: text, &findings)
        if let bytes = Self.decode(characters, form, &findings),
            let signature = Self.signature(in: bytes, form, &findings)
        {
            candidates = [signature]
        } else {
            candidates = Self.shortened(characters, form, &findings)
        }
        self.findings = findings
    }

    /// Whether no byte is missing or extra.
    private var isWhole: Bool {
        !candidates.isEmpty
            && !findings.contains { $0.code == .signatureDERLenient || $0.code == .signatureLeadingZero }
    }

    // MARK: From text to characters

    /// Removes white space, and replaces spaces between the characters with "+".
    private static func clean(_ trimmed: [UInt8], of text: [UInt8], _ findings: inout [Finding]) -> [UInt8] {
        let breaks = trimmed.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        if trimmed.count != text.count || breaks {
            findings.append(.signature(.signatureWhiteSpace, "There is white space in or around the signature's text."))
        }
        let characters = trimmed.filter { $0 >= 0x20 }
        guard characters.contains(0x20) else { return characters }
        findings.append(.signature(.signaturePlusLost, "The signature's text holds spaces where \"+\" was."))
        return characters.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
    }

    private static func unescape(_ text: [UInt8], _ findings: inout [Finding]) -> [UInt8] {
        var text = text
        if let plain = JSONEscapes.decode(text) {
            findings.append(
                .signature(.signatureJSONEscaped, "The signature's text holds the escapes of JSON (\\/ or \\u…)."))
            text = plain
        }
        var count = 0
        while count < 3, text.contains(UInt8(ascii: "%")), let plain = PercentEncoding.decodeBytes(text) {
            text = plain
            count += 1
        }
        guard count > 0 else { return text }
        findings.append(
            .signature(
                .signatureURLEncoded,
                count == 1
                    ? "The signature's text is percent-encoded (%2B, %2F, %3D)."
                    : "The signature's text is percent-encoded \(count) times (%252B, %252F, %253D)."))
        return text
    }

    // MARK: From characters to bytes

    private static func decode(_ characters: [UInt8], _ form: Form, _ findings: inout [Finding]) -> [UInt8]? {
        if let bytes = Hexadecimal.decode(characters), looksLikeSignature(bytes) {
            findings.append(.signature(.signatureHexadecimal, "The signature is written in hexadecimal."))
            return bytes
        }
        guard let decoded = LenientBase64(characters) else { return nil }
        append(decoded, form, &findings)
        if looksLikeSignature(decoded.bytes) { return decoded.bytes }
        // The decoded bytes are text, so the signature was encoded twice.
        if let inner = Hexadecimal.decode(decoded.bytes) ?? LenientBase64(decoded.bytes)?.bytes,
            looksLikeSignature(inner)
        {
            findings.append(
                .signature(.signatureEncodedTwice, "The signature was encoded twice: decoded once, it is still text."))
            return inner
        }
        return decoded.bytes
    }

    private static func looksLikeSignature(_ bytes: [UInt8]) -> Bool {
        bytes.count == 64 && P256Signature(derRepresentation: bytes) == nil || LenientDER.read(bytes) != nil
    }

    private static func append(_ decoded: LenientBase64, _ form: Form, _ findings: inout [Finding]) {
        switch form {
        case .der:
            if decoded.isURLAlphabet {
                findings.append(
                    .signature(.signatureBase64URL, "The signature is in Base64url: it holds \"-\" or \"_\"."))
            }
            if decoded.padding != (3 - decoded.bytes.count % 3) % 3 {
                findings.append(.signature(.signatureUnpadded, "The signature ends with too few or too many \"=\"."))
            }
        case .raw:
            if decoded.isStandardAlphabet || decoded.padding > 0 {
                findings.append(
                    .signature(
                        .signatureStandardBase64,
                        "The token's signature is in standard Base64 (\"+\", \"/\" or \"=\"), not in Base64url without padding."
                    ))
            }
        }
    }

    // MARK: From bytes to r ‖ s

    /// The readings of a signature without the leading zeros of r or s.
    private static func shortened(
        _ characters: [UInt8], _ form: Form, _ findings: inout [Finding]
    ) -> [P256Signature] {
        var readings = ShortSignature.readings(ofHexadecimal: characters)
        if !readings.isEmpty {
            findings.append(.signature(.signatureHexadecimal, "The signature is written in hexadecimal."))
        } else if let decoded = LenientBase64(characters) {
            readings = ShortSignature.readings(of: decoded.bytes)
        }
        guard !readings.isEmpty else { return [] }
        findings.insert(
            .signature(
                .signatureLeadingZero,
                "The signature is r ‖ s with less than 64 bytes: r or s was written without its leading zeros."), at: 0)
        if form == .der {
            findings.append(.signature(.signatureRaw, "The signature is r ‖ s, not DER."))
        }
        return readings
    }

    private static func signature(in bytes: [UInt8], _ form: Form, _ findings: inout [Finding]) -> P256Signature? {
        if let strict = P256Signature(derRepresentation: bytes) {
            if form == .raw {
                findings.append(
                    .signature(
                        .signatureDER, "The token's signature is DER (\(bytes.count) bytes), not r ‖ s (64 bytes)."))
            }
            return strict
        }
        if bytes.count == 64, let raw = P256Signature(rawRepresentation: bytes) {
            if form == .der {
                findings.append(.signature(.signatureRaw, "The signature is r ‖ s (64 bytes), not DER."))
            }
            return raw
        }
        guard let lenient = LenientDER.read(bytes) else { return nil }
        findings.append(
            .signature(
                .signatureDERLenient,
                "The signature resembles DER, but is not: a length or a leading zero is wrong, or bytes follow its end."
            ))
        return lenient
    }
}

extension [UInt8] {
    /// Removes the bytes at both ends that meet the condition.
    fileprivate func trimming(while condition: (UInt8) -> Bool) -> [UInt8] {
        Array(drop(while: condition).reversed().drop(while: condition).reversed())
    }
}

extension Finding {
    fileprivate static func signature(_ code: FindingCode, _ message: String) -> Finding {
        Finding(code, field: "signature", message)
    }
}
