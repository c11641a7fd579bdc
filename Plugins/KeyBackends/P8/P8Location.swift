import SigningKit

/// `file:/path?passphrase-source=file:/path`; also `file:///path` (RFC 8089 §2).
struct P8Location {
    /// Absolute.
    let path: String
    /// A reference for `SecretSource`, or nil.
    let passphraseSource: String?

    init(_ uri: KeyURI) throws(KeyError) {
        var path = uri.path
        if path.hasPrefix("//") {
            path = path.dropFirst(2)
            if path.hasPrefix("localhost/") { path = path.dropFirst("localhost".count) }
        }
        guard path.hasPrefix("/") else {
            throw .invalidURI("\(uri) must name an absolute path, as in file:/etc/privyseal/AuthKey.p8")
        }
        self.path = try Self.decode(path)
        passphraseSource = try Self.passphraseSource(uri)
    }

    private static func passphraseSource(_ uri: KeyURI) throws(KeyError) -> String? {
        var source: String?
        for attribute in uri.query {
            let name = attribute.prefix { $0 != "=" }
            guard name == "passphrase-source" else {
                throw .invalidURI("\(uri) has the attribute \"\(name)\"; a file: URI has passphrase-source only")
            }
            guard source == nil else { throw .invalidURI("\(uri) has passphrase-source twice") }
            source = try decode(attribute.dropFirst(name.count + 1))
        }
        return source
    }

    /// Percent-encoding (RFC 3986 §2.1).
    private static func decode(_ text: Substring) throws(KeyError) -> String {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = Substring(rest.prefix(2))
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
                throw .invalidURI("a % must be followed by two hexadecimal digits (write % itself as %25)")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self), !decoded.isEmpty else {
            throw .invalidURI("its path is not UTF-8, or holds a NUL")
        }
        return decoded
    }
}
