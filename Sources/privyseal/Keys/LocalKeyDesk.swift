import AuditKit
import GatewayConfiguration
import Glibc
import SigningGateway
import SigningKit

/// The register itself, while no gateway runs. The same office decides, in this process.
struct LocalKeyDesk: KeyDesk {
    let configuration: GatewayConfiguration

    func overview() async throws -> KeyLifeOverview {
        guard let audit = configuration.audit else { throw NoRegister() }
        let store = BuiltIns.auditStore
        var registers: [AuditRegister] = []
        if try store.exists(at: audit.database.path) {
            let reader = try store.read(at: audit.database.path)
            defer { reader.close() }
            registers = try reader.registers()
        }
        return try KeyLifeOverview(registers, GatewayPlan(configuration), at: GrantIssuer.systemTime())
    }

    func change(_ order: KeyChangeOrder) async throws -> KeyChangeAnswer {
        try await withOffice { office in try await office.change(order, by: Self.actor) }
    }

    func prove(_ keyID: String) async throws -> KeyLifeRecord {
        try await withOffice { office in try await office.prove(keyID, by: Self.actor) }
    }

    func approve(_ proposal: String, digest: String) async throws -> KeyChangeAnswer {
        try await withOffice { office in try await office.approve(proposal, digest: digest, by: Self.actor) }
    }

    func reject(_ proposal: String) async throws {
        try await withOffice { office in try await office.reject(proposal, by: Self.actor) }
    }

    func begin(_ order: KeyCeremonyOrder) async throws -> KeyCeremonyAnswer {
        try await withOffice { office in try await office.begin(order, by: Self.actor) }
    }

    func finish(_ ceremony: String, _ end: KeyCeremonyEnd) async throws -> KeyCeremonyOutcome {
        try await withOffice { office in try await office.finish(ceremony, end, by: Self.actor) }
    }

    private static let actor = Administrator.operator(uid: geteuid())

    private func withOffice<Value>(_ body: (KeyOffice) async throws -> Value) async throws -> Value {
        guard let settings = configuration.audit else { throw NoRegister() }
        LogSetup.bootstrapQuietly()
        var lock = try KeyRegisterLock(beside: settings.key.path)
        let audit = try AuditComposition(settings, of: configuration).open(isServing: false)
        let result: Result<Value, any Error>
        do {
            if lock == nil { lock = try KeyRegisterLock(beside: settings.key.path) }
            let gateway = LiveGateway(GatewayGeneration(configuration, audit: audit))
            let office = KeyOffice(gateway, audit: audit, isServing: false)
            do {
                try await office.prepare()
                result = .success(try await body(office))
            } catch {
                result = .failure(error)
            }
            await gateway.current.ring.close()
            withExtendedLifetime(lock) {}
        } catch {
            result = .failure(error)
        }
        await audit.close()
        return try result.get()
    }
}

struct NoRegister: Error, CustomStringConvertible {
    var description: String {
        "The configuration has audit: off, so there is no register of keys: its activeKey says which key signs. Give it an audit "
            + "section to lead keys through their lives."
    }
}
