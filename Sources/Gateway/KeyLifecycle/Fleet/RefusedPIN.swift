import Encodings
public import SigningKit

/// A PIN that a token refused from a gateway of the fleet, as the register has it.
struct RefusedPIN: Codable, Hashable, Sendable {
    /// Identifies the token, see `LoginAttempt`.
    var token: String
    /// Base64 of `RefusedPINList.hash`.
    var hash: String
    /// The origin of the gateway that sent it.
    var gateway: String
    var time: Timestamp

    private enum CodingKeys: String, CodingKey {
        case token, hash, gateway
        case time = "at"
    }

    init(_ hash: [UInt8], of token: String, from gateway: String, at time: Timestamp) {
        self.token = token
        self.hash = String(decoding: Base64.standard.encode(hash), as: UTF8.self)
        (self.gateway, self.time) = (gateway, time)
    }

    var refusal: RefusedPINList.Refusal? {
        Base64.standard.decode(hash.utf8).map { RefusedPINList.Refusal(hash: $0, gateway: gateway, time: time) }
    }

    /// The register holds the latest of them.
    static let limit = 256

    func isSame(as other: RefusedPIN) -> Bool { token.hasSameBytes(as: other.token) && hash == other.hash }
}

/// A token that refused PINs from gateways of the fleet.
public struct TokenWithRefusedPINs: Codable, Sendable, Equatable {
    /// Manufacturer, model, serial number and label.
    public var token: String
    /// The number of different PINs.
    public var refusedPINs: Int
    /// The gateway that sent the last of them, and when.
    public var gateway: String
    public var last: Timestamp

    private enum CodingKeys: String, CodingKey {
        case token, gateway, last
        case refusedPINs = "refusedPins"
    }

    static func list(_ refused: [RefusedPIN]) -> [TokenWithRefusedPINs] {
        Dictionary(grouping: refused, by: \.token).compactMap { token, pins in
            pins.max { $0.time < $1.time }.map {
                TokenWithRefusedPINs(token: token, refusedPINs: pins.count, gateway: $0.gateway, last: $0.time)
            }
        }.sorted { $0.token < $1.token }
    }
}
