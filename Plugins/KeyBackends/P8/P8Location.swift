import Encodings
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
            throw .invalidURI("it must name an absolute path on this machine, as in file:/etc/privyseal/AuthKey.p8")
        }
        self.path = try Self.decode(path)
        passphraseSource = try Self.passphraseSource(uri)
    }

    private static func passphraseSource(_ uri: KeyURI) throws(KeyError) -> String? {
        var source: String?
        for attribute in uri.query {
            let name = attribute.prefix { $0 != "=" }
            guard name == "passphrase-source" else {
                throw .invalidURI("it has an unknown attribute; a file: URI has passphrase-source only")
            }
            guard source == nil else { throw .invalidURI("it has passphrase-source twice; keep one of them") }
            let reference = try decode(attribute.dropFirst(name.count + 1))
            guard reference.hasPrefix("file:/") || reference.hasPrefix("credential:") else {
                throw .invalidURI(
                    "passphrase-source must be file:/absolute/path or credential:NAME; commands are not run")
            }
            source = reference
        }
        return source
    }

    private static func decode(_ text: Substring) throws(KeyError) -> String {
        guard let decoded = PercentEncoding.decode(text.utf8), !decoded.utf8.contains(0), !decoded.isEmpty else {
            throw .invalidURI("one of its paths is empty, not UTF-8 or not percent-encoded (write % itself as %25)")
        }
        return decoded
    }
}
