import Crypto

/// The PINs that a token refused from the gateways of a fleet, as keyed hashes.
public struct RefusedPINList: Codable, Sendable {
    public struct Refusal: Codable, Sendable, Equatable {
        /// See `RefusedPINList.hash`.
        public let hash: [UInt8]
        /// The origin of the gateway that sent the PIN.
        public let gateway: String
        public let time: Timestamp
        /// Whether an administrator has allowed the PIN again since.
        public let isForgotten: Bool

        public init(hash: [UInt8], gateway: String, time: Timestamp, isForgotten: Bool = false) {
            (self.hash, self.gateway, self.time, self.isForgotten) = (hash, gateway, time, isForgotten)
        }
    }

    /// The key of the hashes of this token. All gateways of the fleet have the same; the database does not have it.
    private let key: [UInt8]
    public let refusals: [Refusal]

    /// - Parameter key: 32 bytes.
    public init(key: [UInt8], refusals: [Refusal]) {
        (self.key, self.refusals) = (key, refusals)
    }

    /// HMAC-SHA-256 (RFC 2104) of the PIN.
    public func hash(of pin: Secret) -> [UInt8] {
        pin.withBytes { Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: key))) }
    }

    /// The length of a hash, in bytes.
    public static let hashLength = 32

    /// Nil if the token has not refused this PIN. A forgotten refusal does not forbid the PIN.
    public func refusal(of pin: Secret) -> Refusal? {
        let hash = hash(of: pin)
        return refusals.first { $0.hash == hash }
    }
}
