import SigningKit

/// Reads a key's URI. No message repeats it, because an invalid URI may contain a secret.
struct KeyURIReader {
    let findings: Findings

    func read(_ node: SettingNode) -> GatewayConfiguration.KeyLocation? {
        node.parsed(findings) { text throws(InvalidValue) in
            try checkCharacters(text)
            try checkSecrets(text)
            return try location(text, node.origin)
        }
    }

    private func location(
        _ text: String, _ origin: ConfigurationOrigin
    ) throws(InvalidValue) -> GatewayConfiguration.KeyLocation {
        do throws(KeyError) {
            let uri = try KeyURI(text)
            if let backend = findings.plugins.backend(uri.scheme) {
                return GatewayConfiguration.KeyLocation(uri: uri, address: try backend.address(of: uri), origin: origin)
            }
            let schemes = findings.plugins.schemes.joined(separator: ", ")
            throw .invalidURI("no backend serves its scheme; the schemes are \(schemes)")
        } catch {
            throw InvalidValue("cannot be used: \(Self.sentence(error))")
        }
    }

    /// RFC 3986 §2: only visible ASCII; other characters are percent-encoded.
    private func checkCharacters(_ text: String) throws(InvalidValue) {
        let position = text.unicodeScalars.enumerated().first { !(0x21...0x7E).contains($0.element.value) }?.offset
        if let position {
            throw InvalidValue("holds a character invalid in URIs, at position \(position + 1); percent-encode it")
        }
    }

    /// Refuses a secret such as a PIN, which would be in all backups and copies of the file. Finds attributes by their
    /// decoded names, even if percent-encoded or after a wrong `;`, `?` or `&` (RFC 7512 §2.3).
    private func checkSecrets(_ text: String) throws(InvalidValue) {
        // In a PKCS #11 URI, `token` is the label of the token.
        let words: Set = text.hasPrefix("pkcs11:") ? ["pw", "key"] : ["pw", "key", "token"]
        for attribute in [text, Self.decoded(text[...])].flatMap({ $0.split { ":;?&".contains($0) } }) {
            guard let equals = attribute.firstIndex(of: "=") else { continue }
            let name = Self.decoded(attribute[..<equals])
            let isWord = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
            let isSecret =
                (words.contains(name) || ["pin", "pass", "pwd", "secret"].contains { name.contains($0) })
                && !name.hasSuffix("-source")
            guard isWord, isSecret else { continue }
            throw InvalidValue(
                "holds a PIN or a passphrase; put it into a file that only the gateway reads, and name the file with "
                    + "pin-source=file:/path or passphrase-source=file:/path")
        }
    }

    /// Percent-decoded (RFC 3986 §2.1) and in lower case.
    private static func decoded(_ name: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// Without the full stop, which the fault adds.
    private static func sentence(_ error: KeyError) -> String {
        if case .invalidURI(let sentence) = error { return sentence }
        let sentence = error.description
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}
