import Encodings
public import SigningKit

extension GatewayConfiguration {
    /// A client, with its credentials and the signatures that it may get.
    public struct Client: Sendable {
        /// 1 to 63 of `a-z0-9._-`; unique.
        public let name: String
        /// Whether the client may use the admin listener.
        public let isAdministrator: Bool
        public let tokens: [ClientToken]
        public let certificates: [CertificateIdentity]
        /// The users of processes on a Unix socket (`SO_PEERCRED`).
        public let uids: [UserID]
        /// A request that no rule allows is denied.
        public let allow: [Rule]
        /// Nil for no limit.
        public let rate: Rate?
        /// Requests per day (UTC); nil for no limit.
        public let dailyQuota: Int?
        public let origin: ConfigurationOrigin
    }

    /// A bearer token. Only its digest is known.
    public struct ClientToken: Sendable {
        /// 32 bytes: the SHA-256 of the token's whole text.
        public let digest: [UInt8]
        /// The time from which the token is refused; nil if it does not expire.
        public let expires: Timestamp?
        public let origin: ConfigurationOrigin
    }

    public struct UserID: Sendable {
        public let number: UInt32
        public let origin: ConfigurationOrigin
    }

    /// A client's rate limit: a token bucket that holds `burst` requests and is filled with `perSecond` of them.
    public struct Rate: Hashable, Sendable {
        public let perSecond: Double
        public let burst: Int

        static let rates = 0.001...1_000_000
        static let bursts = 1...1_000_000
    }
}

extension GatewayConfiguration.ClientToken: CustomStringConvertible {
    /// The first eight hexadecimal digits of the digest, to distinguish tokens.
    public var description: String { Hexadecimal.encode(digest.prefix(4)) }
}
