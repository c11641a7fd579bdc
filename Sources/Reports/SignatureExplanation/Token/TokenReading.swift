import Encodings
import JWS

/// Reads a compact JWS leniently: its parts, and findings about its form.
struct TokenReading: Sendable {
    /// The first two parts as received, with the dot between: the expected signing input.
    let signingInput: [UInt8]
    /// The first two parts in the correct encoding.
    let properSigningInput: [UInt8]
    /// The JSON of the header; nil if it cannot be decoded.
    let header: [UInt8]?
    let payload: [UInt8]?
    /// Nil if the third part is missing or is not a signature.
    let signature: SignatureReading?
    let findings: [Finding]

    init(_ token: [UInt8]) {
        var findings: [Finding] = []
        let text = Self.clean(token, &findings)
        var parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        if parts.count != 3 { findings.append(Self.partCount(parts.count)) }
        while parts.count < 3 { parts.append([]) }
        header = Self.decode(parts[0], "header", &findings)
        payload = Self.decode(parts[1], "payload", &findings)
        signature = parts[2].isEmpty ? nil : SignatureReading(parts[2], wanted: .raw)
        if signature == nil { findings.append(Self.unreadableSignature(parts[2])) }
        signingInput = parts[0] + [UInt8(ascii: ".")] + parts[1]
        if let header, let payload {
            properSigningInput = CompactJWS.signingInput(header: header, payload: payload)
        } else {
            properSigningInput = signingInput
        }
        self.findings = findings
    }

    // MARK: The whole token

    private static func clean(_ token: [UInt8], _ findings: inout [Finding]) -> [UInt8] {
        var text = String(decoding: token, as: UTF8.self)
        for prefix in ["Bearer ", "bearer ", "JWS ", "JWT "] where text.hasPrefix(prefix) {
            findings.append(Finding(.tokenPrefix, "The token begins with \"\(prefix)\"."))
            text = String(text.dropFirst(prefix.count))
        }
        let dense = text.utf8.filter { $0 > 0x20 }
        if dense.count != text.utf8.count {
            findings.append(Finding(.tokenWhiteSpace, "There is white space in or around the token."))
        }
        guard let first = dense.first, first == UInt8(ascii: "\"") || first == UInt8(ascii: "'"), dense.last == first,
            dense.count > 1
        else { return dense }
        findings.append(Finding(.tokenQuoted, "The token is in quotation marks."))
        return Array(dense.dropFirst().dropLast())
    }

    private static func partCount(_ count: Int) -> Finding {
        let detail =
            switch count {
            case 1: "There is no dot in it"
            case 2: "It has 2 parts: the signature is missing"
            case 5: "It has 5 parts, as an encrypted token (JWE) has"
            default: "It has \(count) parts"
            }
        return Finding(.tokenParts, "\(detail); a compact JWS has three parts between two dots.")
    }

    // MARK: Parts

    private static func decode(_ part: [UInt8], _ name: String, _ findings: inout [Finding]) -> [UInt8]? {
        if let bytes = Base64.url.decode(part), !bytes.isEmpty { return bytes }
        guard let lenient = LenientBase64(part) else {
            findings.append(
                Finding(.tokenPartUnreadable, field: name, "The \(name) is not Base64url: it cannot be decoded."))
            return nil
        }
        if lenient.isStandardAlphabet {
            findings.append(
                Finding(
                    .tokenPartStandardBase64, field: name, "The \(name) is in standard Base64: it holds \"+\" or \"/\"."
                ))
        }
        if lenient.padding > 0 {
            findings.append(Finding(.tokenPartPadded, field: name, "The \(name) is padded with \"=\"."))
        }
        return lenient.bytes
    }

    private static func unreadableSignature(_ part: [UInt8]) -> Finding {
        Finding(
            .signatureUnreadable, field: "signature",
            part.isEmpty
                ? "The token has no signature."
                : "The token's third part holds no ECDSA signature: \(part.count) characters that are neither 64 bytes nor DER."
        )
    }
}
