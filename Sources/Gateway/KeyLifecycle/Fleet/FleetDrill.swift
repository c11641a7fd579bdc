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
    /// SHA-256 of the record's file, 43 characters of Base64url.
    public var digest: String
    /// The index of the entry about the drill in the log of the gateway.
    public var entry: Int
    /// The origin of the log of the gateway on the machine that has the record.
    public var gateway: String

    private enum CodingKeys: String, CodingKey {
        case id, scenario, verdict, begun, ended, served, failed, wronglySigned, deviations, digest, entry, gateway
        case isTemporary = "throwAway"
    }

    public init(
        id: String, scenario: String, verdict: String, begun: Timestamp, ended: Timestamp, isTemporary: Bool,
        served: Int, failed: Int, wronglySigned: Int, deviations: Int, digest: String, entry: Int,
        gateway: String
    ) {
        (self.id, self.scenario, self.verdict) = (id, scenario, verdict)
        (self.begun, self.ended, self.isTemporary) = (begun, ended, isTemporary)
        (self.served, self.failed, self.wronglySigned) = (served, failed, wronglySigned)
        (self.deviations, self.digest, self.entry, self.gateway) = (deviations, digest, entry, gateway)
    }

    public var isPassed: Bool { verdict == "passed" }

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

    /// Records the result in the log of the fleet. Does nothing if it is recorded already.
    ///
    /// - Parameter log: of the fleet.
    public func record(in log: AuditLog, by actor: String) async throws {
        let entry = KeyLifecycleEntry(
            .changed, action: "drill", issuerID: "", keyID: "", actor: actor, id: id,
            evidence: [
                "digest": digest, "entry": "\(self.entry)", "gateway": gateway, "scenario": scenario,
                "verdict": verdict,
            ])
        try await log.register(entry, RegisterName.drills) { value in
            var drills = try Self.read(value)
            if drills.contains(where: { $0.id == id && $0.gateway == gateway }) { return nil }
            drills.append(self)
            while drills.count > Self.limit { drills.remove(at: Self.expendable(of: drills)) }
            return JSONText.encode(drills)
        }
    }

    /// The oldest drill with a later one of its kind on the same gateway, or else the oldest.
    private static func expendable(of drills: [FleetDrill]) -> Int {
        drills.indices.first { index in drills[(index + 1)...].contains { $0.isSameKind(as: drills[index]) } } ?? 0
    }

    private func isSameKind(as other: FleetDrill) -> Bool {
        (scenario, gateway, isTemporary) == (other.scenario, other.gateway, other.isTemporary)
    }
}
