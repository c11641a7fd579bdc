public import SigningKit

public struct TakeCall: Codable, Sendable {
    /// The key to import.
    public enum Source: Codable, Sendable {
        /// A key file, which the signer reads: no private key passes the connection.
        case file(String)
        case package(WrappedKey)
    }

    public let provision: ProvisionCall
    public let source: Source
    public let allowsClear: Bool

    public init(_ provision: ProvisionCall, _ source: Source, allowsClear: Bool) {
        self.provision = provision
        self.source = source
        self.allowsClear = allowsClear
    }
}

public struct ProvisionCall: Codable, Sendable {
    public let session: UInt32
    public let selector: String
    public let isResumed: Bool

    public init(session: UInt32, _ selector: KeySelector, isResumed: Bool) {
        self.session = session
        self.selector = selector.uri.text
        self.isResumed = isResumed
    }
}

public struct DestroyCall: Codable, Sendable {
    public let provision: ProvisionCall
    /// The expected key; nil if unknown.
    public let fingerprint: PublicKeyFingerprint?

    public init(_ provision: ProvisionCall, expecting fingerprint: PublicKeyFingerprint?) {
        self.provision = provision
        self.fingerprint = fingerprint
    }
}
