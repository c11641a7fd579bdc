public import AuditKit
public import AuditLog
public import Crypto
import Encodings
public import SigningKit
public import StrictJSON

/// A PIN that a token refused from a gateway of the fleet, as the register has it.
struct RefusedPIN: Codable, Hashable, Sendable {
    /// Identifies the token, see `LoginAttempt`.
    var token: String
    /// Base64 of `RefusedPINList.hash`.
    var hash: String
    /// The origin of the gateway that sent it.
    var gateway: String
    var time: Timestamp
    /// When an administrator allowed the PIN again.
    var forgotten: Timestamp?

    private enum CodingKeys: String, CodingKey {
        case token, hash, gateway, forgotten
        case time = "at"
    }

    init(_ hash: [UInt8], of token: String, from gateway: String, at time: Timestamp) {
        self.token = token
        self.hash = Base64.standard.text(hash)
        (self.gateway, self.time) = (gateway, time)
    }

    var refusal: RefusedPINList.Refusal? {
        Base64.standard.decode(hash.utf8).map {
            RefusedPINList.Refusal(hash: $0, gateway: gateway, time: time, isForgotten: forgotten != nil)
        }
    }

    /// - Parameter value: of the register; nil before the first refusal.
    static func read(_ value: [UInt8]?) throws(JSONReadError) -> [RefusedPIN] {
        guard let value else { return [] }
        do { return try JSONDocument(parsing: value).root.decode() } catch {
            throw JSONReadError(.invalid("is not a list of refused PINs: \(error)"), at: RegisterName.refusedPINs)
        }
    }

    func entry(by actor: String) -> KeyLifecycleEntry {
        KeyLifecycleEntry(
            .changed, action: "refuse-pin", issuerID: "", keyID: "", actor: actor,
            evidence: ["gateway": gateway, "token": token])
    }

    /// The register holds the latest of each token, and of all.
    private static let (limitOfToken, limit) = (16, 256)

    /// All refused PINs after this one; nil if it is among them.
    func added(to known: [RefusedPIN]) -> [RefusedPIN]? {
        if known.contains(where: { isSame(as: $0) && $0.forgotten == nil }) { return nil }
        let known = known.filter { !isSame(as: $0) }
        let same = known.filter { $0.token.hasSameBytes(as: token) }
        let dropped = same.dropLast(Self.limitOfToken - 1)
        return Array((known.filter { one in !dropped.contains(one) } + [self]).suffix(Self.limit))
    }

    func isSame(as other: RefusedPIN) -> Bool { token.hasSameBytes(as: other.token) && hash == other.hash }
}

extension RefusedPINList {
    /// The purpose of the key from which those of the tokens are derived, see `NoteSigner.derivedKey`. The signer is that
    /// of the fleet's log.
    public static let keyPurpose = "privyseal fleet refused PINs"

    init(_ refused: [RefusedPIN], of token: String, key: SymmetricKey) {
        self.init(
            key: Array(HMAC<SHA256>.authenticationCode(for: Array(token.utf8), using: key)),
            refusals: refused.filter { $0.token.hasSameBytes(as: token) }.compactMap(\.refusal))
    }

    /// For a command, which follows no register.
    ///
    /// - Parameter registers: of the log of the fleet.
    public init(of token: String, in registers: [AuditRegister], key: SymmetricKey) throws(JSONReadError) {
        let register = registers.first { $0.name == RegisterName.refusedPINs }
        self.init(try RefusedPIN.read(register?.value), of: token, key: key)
    }

    /// For a command: records a PIN that the token reported as wrong.
    ///
    /// - Parameters:
    ///   - gateway: the origin of the log of the gateway on this machine.
    ///   - log: of the fleet.
    public static func record(
        _ hash: [UInt8], of token: String, from gateway: String, in log: AuditLog, by actor: String
    ) async throws {
        let pin = RefusedPIN(hash, of: token, from: gateway, at: .now())
        try await log.register(pin.entry(by: actor), RegisterName.refusedPINs) { value in
            let known = try RefusedPIN.read(value)
            return pin.added(to: known).map { JSONText.encode($0) }
        }
    }
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
        Dictionary(grouping: refused.filter { $0.forgotten == nil }, by: \.token).compactMap { token, pins in
            pins.max { $0.time < $1.time }.map {
                TokenWithRefusedPINs(token: token, refusedPINs: pins.count, gateway: $0.gateway, last: $0.time)
            }
        }.sorted { $0.token < $1.token }
    }
}
