public import SigningKit

extension GatewayConfiguration {
    /// Somebody who may ask for signatures, how they prove who they are, and what they may have.
    public struct Client: Sendable {
        /// 1 to 63 of `a-z0-9._-`; in no other client.
        public let name: String
        /// Whether the admin listener lets them in.
        public let isAdministrator: Bool
        public let tokens: [ClientToken]
        public let certificates: [CertificateIdentity]
        /// Of processes on a Unix socket (`SO_PEERCRED`).
        public let uids: [UserID]
        /// What is in none of these rules is denied.
        public let allow: [Rule]
        /// Nil for no limit.
        public let rate: Rate?
        /// Requests in a day (UTC); nil for no limit.
        public let dailyQuota: Int?
        public let origin: ConfigurationOrigin
    }

    /// A bearer token, known by its digest only.
    public struct ClientToken: Sendable {
        /// 32 bytes: the SHA-256 of the token's whole text.
        public let digest: [UInt8]
        /// The first moment at which it is no longer taken; nil when that never comes.
        public let expires: Timestamp?
        public let origin: ConfigurationOrigin
    }

    /// The user of a process.
    public struct UserID: Sendable {
        public let number: UInt32
        public let origin: ConfigurationOrigin
    }

    /// How many requests a client may make: a bucket that holds `burst` requests and is filled by `perSecond` of them.
    public struct Rate: Hashable, Sendable {
        public let perSecond: Double
        public let burst: Int

        /// What `perSecond` may be.
        static let rates = 0.001...1_000_000
        /// What `burst` may be.
        static let bursts = 1...1_000_000
    }
}

extension GatewayConfiguration.ClientToken: CustomStringConvertible {
    /// The first eight hexadecimal digits of the digest: enough to tell tokens apart.
    public var description: String { Hexadecimal.text(digest.prefix(4)) }
}
