public import AuditKit
public import AuditLog
public import SigningKit
public import StrictJSON

/// The result of a drill, which all gateways of a fleet know. The record stays on the machine of the drill.
public struct FleetDrill: Codable, Sendable, Equatable {
    public var id: String
    public var scenario: String
    /// `passed` or `failed`.
    public var verdict: String
    public var begun: Timestamp
    public var ended: Timestamp
    /// Whether the drill made its own gateway, with keys in a software token.
    public var isTemporary: Bool
    public var served: Int
    public var failed: Int
    public var wronglySigned: Int
    /// The number of differences from the plan.
    public var deviations: Int
    /// SHA-256 of the record's file, in hexadecimal digits.
    public var digest: String
    /// The origin of the log of the gateway on the machine that has the record.
    public var gateway: String

    private enum CodingKeys: String, CodingKey {
        case id, scenario, verdict, begun, ended, served, failed, wronglySigned, deviations, digest, gateway
        case isTemporary = "throwAway"
    }

    public init(
        id: String, scenario: String, verdict: String, begun: Timestamp, ended: Timestamp, isTemporary: Bool,
        served: Int, failed: Int, wronglySigned: Int, deviations: Int, digest: String, gateway: String
    ) {
        (self.id, self.scenario, self.verdict) = (id, scenario, verdict)
        (self.begun, self.ended, self.isTemporary) = (begun, ended, isTemporary)
        (self.served, self.failed, self.wronglySigned) = (served, failed, wronglySigned)
        (self.deviations, self.digest, self.gateway) = (deviations, digest, gateway)
    }

    /// The register holds the latest results. The log has an entry for each.
    private static let limit = 128

    /// - Returns: the results with the index of the register's entry; nil if no drill is recorded.
    public static func results(
        in registers: [AuditRegister]
    ) throws(JSONReadError) -> (drills: [FleetDrill], entry: Int)? {
        guard let register = registers.first(where: { $0.name == RegisterName.drills }) else { return nil }
        return (try read(register.value), register.entry)
    }

    private static func read(_ value: [UInt8]?) throws(JSONReadError) -> [FleetDrill] {
        guard let value else { return [] }
        do { return try JSONDocument(parsing: value).root.decode() } catch {
            throw JSONReadError(.invalid("is not a list of drills: \(error)"), at: RegisterName.drills)
        }
    }

    /// Records the result in the log of the fleet. A second record of the same drill replaces the first.
    ///
    /// - Parameter log: of the fleet.
    public func record(in log: AuditLog, by actor: String) async throws {
        let entry = KeyLifecycleEntry(
            .changed, action: "drill", issuerID: "", keyID: "", actor: actor, id: id,
            evidence: ["digest": "sha256:\(digest)", "gateway": gateway, "scenario": scenario, "verdict": verdict])
        try await log.register(entry, RegisterName.drills) { value in
            let known = try Self.read(value).filter { $0.id != id || $0.gateway != gateway }
            return JSONText.encode(Array((known + [self]).suffix(Self.limit)))
        }
    }
}
