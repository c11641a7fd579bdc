/// A key's URI, split into the place and the key in it.
public struct KeyAddress: Hashable, Sendable {
    public let locator: KeyLocator
    public var selector: KeySelector

    public init(locator: KeyLocator, selector: KeySelector) {
        self.locator = locator
        self.selector = selector
    }
}

/// A place where keys live, in the words of its backend. Two keys in one place have equal locators.
public struct KeyLocator: Hashable, Sendable {
    /// What the backend needs to open the place. Where a secret is may be in it; a secret never is.
    public let uri: KeyURI

    public init(_ uri: KeyURI) {
        self.uri = uri
    }
}

/// One key within a place, in the words of its backend.
public struct KeySelector: Hashable, Sendable {
    /// What the backend needs to find the key.
    public let uri: KeyURI
    /// The public key from the configuration, for a token that holds neither a public key nor a certificate; its X9.63
    /// point of 65 bytes.
    public var publicKey: [UInt8]?

    public init(_ uri: KeyURI, publicKey: [UInt8]? = nil) {
        self.uri = uri
        self.publicKey = publicKey
    }
}
