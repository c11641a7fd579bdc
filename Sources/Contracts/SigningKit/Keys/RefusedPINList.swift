import Crypto

/// The PINs that a token refused from the gateways of a fleet, as keyed hashes.
public struct RefusedPINList: Codable, Sendable {
    public struct Refusal: Codable, Sendable, Equatable {
        /// See `RefusedPINList.hash`.
        public let hash: [UInt8]
        /// The origin of the gateway that sent the PIN.
        public let gateway: String
        public let time: Timestamp

        public init(hash: [UInt8], gateway: String, time: Timestamp) {
            (self.hash, self.gateway, self.time) = (hash, gateway, time)
        }
    }

    /// The key of the hashes. All gateways of the fleet have the same; the database does not have it.
    private let key: [UInt8]
    public let refusals: [Refusal]

    /// - Parameter key: 32 bytes.
    public init(key: [UInt8], refusals: [Refusal]) {
        (self.key, self.refusals) = (key, refusals)
    }

    /// HMAC-SHA-256 (RFC 2104) of the token's identity, a zero byte and the PIN.
    ///
    /// - Parameter token: as in `LoginAttempt`.
    public func hash(of pin: Secret, for token: String) -> [UInt8] {
        var hash = HMAC<SHA256>(key: SymmetricKey(data: key))
        hash.update(data: Array(token.utf8) + [0])
        pin.withBytes { hash.update(data: $0) }
        return Array(hash.finalize())
    }

    /// Nil if the token has not refused this PIN.
    public func refusal(of pin: Secret, for token: String) -> Refusal? {
        let hash = hash(of: pin, for: token)
        return refusals.first { $0.hash == hash }
    }
}
