import AuditKit
import AuditLog
import GatewayConfiguration
import Glibc
import KeyLifecycle
import Signing
import SigningKit

/// Runs `KeyLifecycleService` in this process, on the register itself, while no gateway runs.
struct LocalKeyLifecycleClient: KeyLifecycleClient {
    let configuration: GatewayConfiguration

    func overview() async throws -> KeyLifecycleOverview {
        guard let audit = configuration.audit else { throw NoRegister() }
        let store = BuiltIns.auditStore
        var registers: [AuditRegister] = []
        if try store.exists(at: audit.database.path) {
            let reader = try store.read(at: audit.database.path)
            defer { reader.close() }
            registers = try reader.registers()
        }
        return try KeyLifecycleOverview(registers, GatewaySettings(configuration), at: ClockMonitor.systemTime())
    }

    func change(_ order: KeyChangeOrder) async throws -> KeyChangeAnswer {
        try await withLifecycle { lifecycle in try await lifecycle.change(order, by: Self.actor) }
    }

    func prove(_ keyID: String) async throws -> KeyLifecycleRecord {
        try await withLifecycle { lifecycle in try await lifecycle.prove(keyID, by: Self.actor) }
    }

    func approve(_ proposal: String, digest: String) async throws -> KeyChangeAnswer {
        try await withLifecycle { lifecycle in try await lifecycle.approve(proposal, digest: digest, by: Self.actor) }
    }

    func reject(_ proposal: String) async throws {
        try await withLifecycle { lifecycle in try await lifecycle.reject(proposal, by: Self.actor) }
    }

    func begin(_ order: ProvisioningOrder) async throws -> ProvisioningAnswer {
        try await withLifecycle { lifecycle in try await lifecycle.begin(order, by: Self.actor) }
    }

    func finish(_ job: String, _ end: ProvisioningResult) async throws -> ProvisioningOutcome {
        try await withLifecycle { lifecycle in try await lifecycle.finish(job, end, by: Self.actor) }
    }

    private static let actor = Administrator.operator(uid: geteuid())

    private func withLifecycle<Value>(_ body: (KeyLifecycleService) async throws -> Value) async throws -> Value {
        guard let settings = configuration.audit else { throw NoRegister() }
        LogSetup.bootstrapQuietly()
        var lock = try KeyRegisterLock(beside: settings.key.path)
        let keyStates = KeyStateCache()
        let audit = try AuditComposition(settings, of: configuration).open(isServing: false, keyStates: keyStates)
        let result: Result<Value, any Error>
        do {
            if lock == nil { lock = try KeyRegisterLock(beside: settings.key.path) }
            let gateway = SnapshotHolder(
                ConfigurationSnapshot(configuration, audit: SigningAudit(audit, keyStates)))
            let lifecycle = KeyLifecycleService(
                gateway, audit: audit, keyStates: keyStates, isServing: false)
            do {
                try await lifecycle.prepare()
                result = .success(try await body(lifecycle))
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
            + "section to manage the lifecycle of keys."
    }
}
