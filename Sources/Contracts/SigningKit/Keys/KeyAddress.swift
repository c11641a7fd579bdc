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
