import Encodings

/// Reads a compact JWS leniently: its parts, and findings about its form.
struct TokenReading: Sendable {
    /// The first two parts as received, with the dot between: the expected signing input.
    let signingInput: [UInt8]
    /// The JSON of the header; nil if it cannot be decoded.
    private(set) var header: [UInt8]?
    private(set) var payload: [UInt8]?
    /// Nil if the third part is missing or is not a signature.
    let signature: SignatureReading?
    private(set) var findings: [Finding] = []

    init(_ token: [UInt8]) {
        let text = Self.clean(token, &findings)
        var parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        if parts.count != 3 {
            let detail =
                switch parts.count {
                case 1: "There is no dot in it"
                case 2: "It has 2 parts: the signature is missing"
                case 5: "It has 5 parts, as an encrypted token (JWE) has"
                default: "It has \(parts.count) parts"
                }
            findings.add(.tokenParts, "\(detail); a compact JWS has three parts between two dots.")
        }
        while parts.count < 3 { parts.append([]) }
        signingInput = parts[0] + [UInt8(ascii: ".")] + parts[1]
        signature = parts[2].isEmpty ? nil : SignatureReading(parts[2], wanted: .raw)
        header = decode(parts[0], "header")
        payload = decode(parts[1], "payload")
        if signature == nil {
            findings.add(
                .signatureUnreadable, in: "signature",
                parts[2].isEmpty
                    ? "The token has no signature."
                    : "The token's third part holds no ECDSA signature: \(parts[2].count) characters that are neither "
                        + "64 bytes nor DER.")
        }
    }

    private static func clean(_ token: [UInt8], _ findings: inout [Finding]) -> [UInt8] {
        var text = String(decoding: token, as: UTF8.self)
        for prefix in ["Bearer ", "bearer ", "JWS ", "JWT "] where text.hasPrefix(prefix) {
            findings.add(.tokenPrefix, "The token begins with \"\(prefix)\".")
            text = String(text.dropFirst(prefix.count))
        }
        let dense = text.utf8.filter { $0 > 0x20 }
        if dense.count != text.utf8.count {
            findings.add(.tokenWhiteSpace, "There is white space in or around the token.")
        }
        guard let first = dense.first, first == UInt8(ascii: "\"") || first == UInt8(ascii: "'"), dense.last == first,
            dense.count > 1
        else { return dense }
        findings.add(.tokenQuoted, "The token is in quotation marks.")
        return Array(dense.dropFirst().dropLast())
    }

    private mutating func decode(_ part: [UInt8], _ name: String) -> [UInt8]? {
        if let bytes = Base64.url.decode(part), !bytes.isEmpty { return bytes }
        guard let lenient = LenientBase64(part) else {
            findings.add(.tokenPartUnreadable, in: name, "The \(name) is not Base64url: it cannot be decoded.")
            return nil
        }
        if lenient.isStandardAlphabet {
            findings.add(
                .tokenPartStandardBase64, in: name, "The \(name) is in standard Base64: it holds \"+\" or \"/\".")
        }
        if lenient.padding > 0 { findings.add(.tokenPartPadded, in: name, "The \(name) is padded with \"=\".") }
        return lenient.bytes
    }
}
