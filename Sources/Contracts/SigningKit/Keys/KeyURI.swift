/// The location of a key in the configuration: `file:/etc/privyseal/AuthKey.p8`, `pkcs11:token=…;object=…`. Its
/// description omits every attribute that leads to a secret, so it is safe in logs, errors and tables.
public struct KeyURI: Hashable, Sendable {
    /// Compared by bytes, because two URIs that are equal as `String` can name different files.
    private let exact: ExactText

    /// The whole URI. It may contain secrets, so do not display it.
    public var text: String { exact.text }

    /// - Throws: `KeyError.invalidURI` without a scheme (RFC 3986 §3.1), without text after it, or with a fragment
    ///   (§3.5). The error does not repeat the text, which may contain a secret.
    public init(_ text: String) throws(KeyError) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(text[..<colon]) else {
            throw .invalidURI("it must begin with a scheme, such as file: or pkcs11:")
        }
        guard text.utf8.index(after: colon) < text.endIndex else {
            throw .invalidURI("nothing follows its scheme")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else {
            throw .invalidURI("it holds a #, which would begin a fragment; write %23")
        }
        exact = ExactText(text)
    }

    /// In lower case, without the colon.
    public var scheme: String { text.prefix { $0 != ":" }.lowercased() }

    /// The text after the scheme's colon, up to the query.
    public var path: Substring { text.drop { $0 != ":" }.dropFirst().prefix { $0 != "?" } }

    /// The query's attributes, in order, not decoded and not split further.
    public var query: [Substring] {
        text.drop { $0 != "?" }.dropFirst().split(separator: "&", omittingEmptySubsequences: true)
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20) else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }
}

extension KeyURI: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URI without possible secrets and their locations. It omits user information (RFC 3986 §3.2.1), path
    /// attributes with a secret's name, and all query attributes except those that name a module.
    public var description: String {
        let harmless = query.filter(Self.namesModule)
        let path = Self.withoutUserInformation(path)
            .split(separator: ";", omittingEmptySubsequences: false)
            .filter { !($0.contains("=") && Self.leadsToSecret($0)) }
            .joined(separator: ";")
        return "\(scheme):\(path)" + (harmless.isEmpty ? "" : "?" + harmless.joined(separator: "&"))
    }

    private static func namesModule(_ attribute: Substring) -> Bool {
        let name = attribute.prefix { $0 != "=" }
        return (name == "module-path" || name == "module-name") && !attribute.contains(";")
    }

    private static func withoutUserInformation(_ path: Substring) -> Substring {
        guard path.hasPrefix("//") else { return path }
        let authority = path.dropFirst(2).prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return path }
        return "//" + path[path.index(after: at)...]
    }

    private static func leadsToSecret(_ attribute: Substring) -> Bool {
        let name = attribute.prefix { $0 != "=" }.lowercased()
        return name == "pw" || ["pin", "pass", "pwd", "secret", "credential"].contains { name.contains($0) }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["uri": description]) }
}

/// A key's URI, split into the location and the key at that location.
public struct KeyAddress: Hashable, Sendable {
    public let locator: KeyLocator
    public var selector: KeySelector

    public init(locator: KeyLocator, selector: KeySelector) {
        self.locator = locator
        self.selector = selector
    }
}

/// A location of keys (a token or file) in the form of its backend. All keys of one location have equal locators.
public struct KeyLocator: Hashable, Sendable {
    /// What the backend needs to open the location. It may name the location of a secret, but never contains one.
    public let uri: KeyURI

    public init(_ uri: KeyURI) {
        self.uri = uri
    }
}

/// A key at a location, in the form of its backend.
public struct KeySelector: Hashable, Sendable {
    public let uri: KeyURI
    /// The configured public key, for a token without public key or certificate: its X9.63 point, 65 bytes.
    public var publicKey: [UInt8]?

    public init(_ uri: KeyURI, publicKey: [UInt8]? = nil) {
        self.uri = uri
        self.publicKey = publicKey
    }
}
