public import SigningKit

extension GatewayConfiguration {
    /// The location of a P-256 key. It is not opened yet.
    public struct KeyLocation: Sendable, CustomStringConvertible {
        public let uri: KeyURI
        /// The URI, split by its backend.
        public let address: KeyAddress
        /// See `KeyBackend.signerName(of:)`.
        public let signerName: String
        public let origin: ConfigurationOrigin

        /// For logs and tables, without the attributes that lead to a secret.
        public var description: String { uri.description }
    }
}

extension SettingKind<GatewayConfiguration.KeyLocation> {
    static func keyLocation(_ values: String) -> Self {
        Self(
            values: values,
            read: { node, findings in
                node.parsed(findings) { text throws(InvalidValue) in
                    try GatewayConfiguration.KeyLocation(text, node.origin, findings.plugins)
                }
            },
            text: { $0.description }, compared: { $0.uri.text })
    }
}

extension SettingTree {
    /// Locations of one key. Their order is the order in which they are used.
    static func keyLocations(_ name: String, _ locations: [GatewayConfiguration.KeyLocation]) -> Self? {
        guard !locations.isEmpty else { return nil }
        return .setting(
            name, "[" + locations.map(\.description).joined(separator: ", ") + "]",
            compared: locations.map(\.uri.text).joined(separator: " "))
    }
}

extension GatewayConfiguration.KeyLocation {
    /// Reads a key's URI. No message repeats it, because an invalid URI may contain a secret.
    fileprivate init(_ text: String, _ origin: ConfigurationOrigin, _ plugins: Plugins) throws(InvalidValue) {
        // RFC 3986 §2: only visible ASCII; other characters are percent-encoded.
        let position = text.unicodeScalars.prefix { (0x21...0x7E).contains($0.value) }.count + 1
        try require(
            position > text.unicodeScalars.count,
            "holds a character invalid in URIs, at position \(position); percent-encode it")
        try Self.checkSecrets(text)
        do throws(KeyError) {
            uri = try KeyURI(text)
            let scheme = uri.scheme
            guard let backend = plugins.backends.first(where: { $0.scheme == scheme }) else {
                let schemes = plugins.schemes.joined(separator: ", ")
                throw .invalidURI("no backend serves its scheme; the schemes are \(schemes)")
            }
            address = try backend.address(of: uri)
            signerName = backend.signerName(of: address.locator)
        } catch {
            let sentence = if case .invalidURI(let sentence) = error { sentence } else { error.description }
            // The finding adds the full stop.
            throw InvalidValue("cannot be used: \(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)")
        }
        self.origin = origin
    }

    /// Refuses a secret such as a PIN, which would be in all backups and copies of the file. Finds attributes by their
    /// decoded names, even if percent-encoded or after a wrong `;`, `?`, `&` or `,` (RFC 7512 §2.3).
    private static func checkSecrets(_ text: String) throws(InvalidValue) {
        // In a PKCS #11 URI, `token` is the label of the token.
        let words: Set = text.lowercased().hasPrefix("pkcs11:") ? ["pw", "key"] : ["pw", "key", "token"]
        for attribute in [text, Self.decoded(text[...])].flatMap({ $0.split { ":;?&,".contains($0) } }) {
            guard let equals = attribute.firstIndex(of: "=") else { continue }
            let name = Self.decoded(attribute[..<equals])
            let isWord = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
            let isSecret =
                (words.contains(name) || ["pin", "pass", "pwd", "secret"].contains { name.contains($0) })
                && !name.hasSuffix("-source")
            try require(
                !isWord || !isSecret,
                "holds a PIN or a passphrase; put it into a file that only the gateway reads, and name the file with "
                    + "pin-source=file:/path or passphrase-source=file:/path")
        }
    }

    /// Percent-decoded (RFC 3986 §2.1) and in lower case.
    private static func decoded(_ name: Substring) -> String {
        name.replacing(/%([0-9A-Fa-f]{2})/) { match in
            String(UnicodeScalar(UInt8(match.1, radix: 16) ?? UInt8(ascii: "?")))
        }.lowercased()
    }
}
