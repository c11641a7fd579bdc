public import SigningKit
public import StrictJSON

/// The activation of a key on all gateways of a fleet. It is open until each of them has proved the new key; then the
/// change is recorded, with the time at which it takes effect.
public struct FleetActivation: Codable, Sendable, Equatable {
    public var id: String
    public var issuerID: String
    public var keyID: String
    /// Of the key that the ordering gateway proved.
    public var fingerprint: PublicKeyFingerprint
    /// The parts of the order, see `KeyChangeOrder`.
    @OmittedIfEmpty public var details: [String: String] = [:]
    public var reason: String
    public var actor: String
    public var approver: String?
    public var ordered: Timestamp
    /// The origin of the gateway that got the order.
    public var orderedAt: String
    /// The origins of the gateways that must prove the key: those whose leases were valid then.
    public var gateways: [String]

    private enum CodingKeys: String, CodingKey {
        case id, keyID = "keyId", issuerID = "issuerId", fingerprint, details, reason, actor, approver, ordered
        case orderedAt, gateways
    }

    var order: KeyChangeOrder { KeyChangeOrder(.activate, keyID, reason: reason, details: details) }

    /// The most that may be open in a fleet: the answers to all of them are in one row.
    static let limit = 8
}

/// A gateway's answer to an activation: whether its key signed a proof of possession.
struct FleetAnswer: Codable, Hashable, Sendable {
    var activation: String
    /// Why the key did not sign a proof; nil if it did.
    var refusal: String?

    /// The longest reason, in bytes: the row of a gateway holds the answers to `FleetActivation.limit` activations.
    static let longestRefusal = 300
}

extension [FleetAnswer] {
    var text: String { isEmpty ? "" : String(decoding: JSONText.encode(self), as: UTF8.self) }

    /// Empty for text of another version.
    init(answers text: String) {
        let bytes: [UInt8] = .init(text.utf8)
        self = (try? JSONDocument(parsing: bytes).root.decode([FleetAnswer].self)) ?? []
    }
}

/// A gateway that an administrator has fenced: it cannot write to its log until it is started again.
public struct FencedGateway: Codable, Sendable, Equatable {
    public var origin: String
    /// The epoch of its log that has ended.
    public var epoch: Int
    public var reason: String
    public var actor: String
    public var time: Timestamp

    private enum CodingKeys: String, CodingKey {
        case origin, epoch, reason, actor
        case time = "at"
    }
}
