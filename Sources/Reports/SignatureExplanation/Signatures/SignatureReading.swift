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
    private(set) var candidates: [P256Signature] = []
    private(set) var findings: [Finding] = []
    private let form: Form

    /// Nil if the text does not contain 64 bytes of a signature.
    init?(_ text: [UInt8], wanted form: Form) {
        self.init(text, form) { $0 <= 0x20 }
        if !isWhole {
            // A space at an end may be a lost "+". It is one if the signature is complete with it.
            let withSpaces = Self(text, form) { $0 < 0x20 }
            if withSpaces.isWhole { self = withSpaces }
        }
        if candidates.isEmpty { return nil }
    }

    /// Trims the bytes that meet the condition.
    private init(_ text: [UInt8], _ form: Form, trimming isTrimmed: (UInt8) -> Bool) {
        self.form = form
        let plain = unescape(text)
        let trimmed = Array(plain.drop(while: isTrimmed).reversed().drop(while: isTrimmed).reversed())
        let characters = clean(trimmed, of: plain)
        if let bytes = decode(characters), let signature = signature(in: bytes) {
            candidates = [signature]
        } else {
            candidates = shortened(characters)
        }
    }

    /// Whether no byte is missing or extra.
    private var isWhole: Bool {
        !candidates.isEmpty
            && !findings.contains { $0.code == .signatureDERLax || $0.code == .signatureLeadingZero }
    }

    private mutating func add(_ code: FindingCode, _ message: String) { findings.add(code, in: "signature", message) }

    // MARK: From text to characters

    private mutating func unescape(_ text: [UInt8]) -> [UInt8] {
        var text = text
        if let plain = JSONEscapes.decode(text) {
            add(.signatureJSONEscaped, "The signature's text holds the escapes of JSON (\\/ or \\u…).")
            text = plain
        }
        var count = 0
        while count < 3, text.contains(UInt8(ascii: "%")), let plain = PercentEncoding.decodeBytes(text) {
            text = plain
            count += 1
        }
        guard count > 0 else { return text }
        let detail = count == 1 ? "(%2B, %2F, %3D)" : "\(count) times (%252B, %252F, %253D)"
        add(.signatureURLEncoded, "The signature's text is percent-encoded \(detail).")
        return text
    }

    /// Removes white space, and replaces spaces between the characters with "+".
    private mutating func clean(_ trimmed: [UInt8], of text: [UInt8]) -> [UInt8] {
        if trimmed.count != text.count || trimmed.contains(where: { [0x09, 0x0A, 0x0D].contains($0) }) {
            add(.signatureWhiteSpace, "There is white space in or around the signature's text.")
        }
        let characters = trimmed.filter { $0 >= 0x20 }
        guard characters.contains(0x20) else { return characters }
        add(.signaturePlusLost, "The signature's text holds spaces where \"+\" was.")
        return characters.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
    }

    // MARK: From characters to bytes

    private mutating func decode(_ characters: [UInt8]) -> [UInt8]? {
        if let bytes = Hexadecimal.decode(characters), Self.looksLikeSignature(bytes) {
            add(.signatureHex, "The signature is written in hexadecimal.")
            return bytes
        }
        guard let decoded = LenientBase64(characters) else { return nil }
        checkBase64(decoded)
        if Self.looksLikeSignature(decoded.bytes) { return decoded.bytes }
        // The decoded bytes are text, so the signature was encoded twice.
        guard let inner = Hexadecimal.decode(decoded.bytes) ?? LenientBase64(decoded.bytes)?.bytes,
            Self.looksLikeSignature(inner)
        else { return decoded.bytes }
        add(.signatureEncodedTwice, "The signature was encoded twice: decoded once, it is still text.")
        return inner
    }

    private static func looksLikeSignature(_ bytes: [UInt8]) -> Bool {
        bytes.count == 64 && P256Signature(derRepresentation: bytes) == nil || P256Signature(lenientDER: bytes) != nil
    }

    private mutating func checkBase64(_ decoded: LenientBase64) {
        switch form {
        case .der:
            if decoded.isURLAlphabet {
                add(.signatureBase64url, "The signature is in Base64url: it holds \"-\" or \"_\".")
            }
            if decoded.padding != (3 - decoded.bytes.count % 3) % 3 {
                add(.signatureUnpadded, "The signature ends with too few or too many \"=\".")
            }
        case .raw:
            guard decoded.isStandardAlphabet || decoded.padding > 0 else { return }
            add(
                .signatureStandardBase64,
                "The token's signature is in standard Base64 (\"+\", \"/\" or \"=\"), not in Base64url without padding."
            )
        }
    }

    // MARK: From bytes to r ‖ s

    /// The readings of a signature without the leading zeros of r or s.
    private mutating func shortened(_ characters: [UInt8]) -> [P256Signature] {
        var readings = P256Signature.readings(ofShortHexadecimal: characters)
        if !readings.isEmpty {
            add(.signatureHex, "The signature is written in hexadecimal.")
        } else if let decoded = LenientBase64(characters) {
            readings = P256Signature.readings(ofShort: decoded.bytes)
        }
        guard !readings.isEmpty else { return [] }
        let message =
            "The signature is r ‖ s with less than 64 bytes: leading zeros of r or s are missing, or the end of the text."
        findings.insert(Finding(.signatureLeadingZero, in: "signature", message), at: 0)
        if form == .der { add(.signatureRaw, "The signature is r ‖ s, not DER.") }
        return readings
    }

    private mutating func signature(in bytes: [UInt8]) -> P256Signature? {
        if let strict = P256Signature(derRepresentation: bytes) {
            if form == .raw {
                add(.signatureDER, "The token's signature is DER (\(bytes.count) bytes), not r ‖ s (64 bytes).")
            }
            return strict
        }
        if bytes.count == 64, let raw = P256Signature(rawRepresentation: bytes) {
            if form == .der { add(.signatureRaw, "The signature is r ‖ s (64 bytes), not DER.") }
            return raw
        }
        guard let lenient = P256Signature(lenientDER: bytes) else { return nil }
        add(
            .signatureDERLax,
            "The signature resembles DER, but is not: a length or a leading zero is wrong, or bytes follow its end.")
        return lenient
    }
}
