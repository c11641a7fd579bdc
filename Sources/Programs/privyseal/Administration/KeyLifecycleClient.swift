import AuditKit
import AuditLog
import Encodings
import GatewayConfiguration
import Glibc
import KeyLifecycle
import NIOHTTP1
import Signing
import SigningKit
import StrictJSON

/// Requests key lifecycle changes: from a running gateway, or from the register itself while none runs.
protocol KeyLifecycleClient: Sendable {
    func overview() async throws -> KeyLifecycleOverview

    /// The long-lived tokens of a key that are still valid, from the audit log.
    func longLivedTokens(of keyID: String) async throws -> LongLivedTokens

    /// - Parameters:
    ///   - path: the route of the admin listener, and the body for it.
    ///   - service: the same, for the service in this process.
    func ask<Answer: Decodable & Sendable>(
        _ path: String, _ body: any Encodable, _ service: LifecycleCall<Answer>
    ) async throws -> Answer
}

typealias LifecycleCall<Answer> = (KeyLifecycleService, Administrator) async throws -> Answer

extension KeyLifecycleClient {
    func change(_ order: KeyChangeOrder) async throws -> KeyLifecycleAnswer {
        try await ask("/v1/keys/\(segment(order.keyID))/\(order.action.rawValue)", order) { service, actor in
            try await service.change(order, by: actor)
        }
    }

    /// Has a key sign a fresh proof of possession, which `activate` requires.
    func prove(_ keyID: String) async throws -> KeyLifecycleRecord {
        try await ask("/v1/keys/\(segment(keyID))/prove", [:] as JSONMembers) { service, actor in
            try await service.prove(keyID, by: actor)
        }
    }

    /// Another administrator than the proposer approves. A change without work on a token is done at once.
    ///
    /// - Parameter digest: of the proposal as the administrator saw it.
    func approve(_ proposal: String, digest: String) async throws -> KeyLifecycleAnswer {
        try await ask("/v1/proposals/\(segment(proposal))/approve", ["digest": digest]) { service, actor in
            try await service.approve(proposal, digest: digest, by: actor)
        }
    }

    func reject(_ proposal: String) async throws {
        _ = try await ask("/v1/proposals/\(segment(proposal))/reject", [:] as JSONMembers) { service, actor in
            try await service.reject(proposal, by: actor)
            return NoAnswer()
        }
    }

    /// Call before the work on the token.
    func begin(_ order: ProvisioningOrder) async throws -> KeyLifecycleAnswer {
        try await ask("/v1/ceremonies", order) { service, actor in try await service.begin(order, by: actor) }
    }

    /// Call after the work on the token.
    func finish(_ job: String, _ end: ProvisioningResult) async throws -> KeyLifecycleAnswer {
        try await ask("/v1/ceremonies/\(segment(job))/finish", end) { service, actor in
            try await service.finish(job, end, by: actor)
        }
    }

    /// Encodes an argument as one segment of a path (RFC 3986 §3.3).
    fileprivate func segment(_ text: String) -> String { PercentEncoding.encode(text, .init(kept: "-_~")) }
}

private struct NoAnswer: Decodable, Sendable {}

/// Asks a running gateway's admin listener. A refusal is an `AdminError.refused` with the gateway's sentence.
struct RemoteKeyLifecycleClient: KeyLifecycleClient {
    private let client: AdminClient

    init(_ client: AdminClient) {
        self.client = client
    }

    func overview() async throws -> KeyLifecycleOverview {
        try decode(try await client.ask(.GET, "/v1/keys", accept: "application/json"), of: "/v1/keys")
    }

    func longLivedTokens(of keyID: String) async throws -> LongLivedTokens {
        let path = "/v1/audit/tokens?key=\(segment(keyID))"
        return try decode(try await client.ask(.GET, path, accept: "application/json"), of: path)
    }

    func ask<Answer: Decodable & Sendable>(
        _ path: String, _ body: any Encodable, _ service: LifecycleCall<Answer>
    ) async throws -> Answer {
        let text = try await client.ask(.POST, path, body: JSONText.encode(body), accept: "application/json")
        return try decode(text.isEmpty ? "{}" : text, of: path)
    }

    private func decode<Answer: Decodable>(_ text: String, of path: String) throws -> Answer {
        do {
            return try JSONDocument(parsing: Array(text.utf8)).root.decode()
        } catch {
            throw AdminError.unreachable(
                "the answer to \(path) is not that of a gateway of version \(Version.text): \(error)")
        }
    }
}

/// Runs `KeyLifecycleService` in this process, on the register itself, while no gateway runs.
struct LocalKeyLifecycleClient: KeyLifecycleClient {
    private let configuration: GatewayConfiguration
    private let settings: GatewayConfiguration.Audit

    /// - Throws: `CommandError` if there is no register.
    init(_ configuration: GatewayConfiguration) throws(CommandError) {
        guard let settings = configuration.audit else {
            throw CommandError(
                "The configuration has audit: off, so there is no register of keys: its activeKey says which key signs. "
                    + "Give it an audit section to manage the lifecycle of keys.")
        }
        (self.configuration, self.settings) = (configuration, settings)
    }

    func overview() async throws -> KeyLifecycleOverview {
        let location = (configuration.fleetLog ?? settings).location
        var registers: [AuditRegister] = []
        if try location.store.exists(at: location) {
            let reader = try location.read()
            defer { reader.close() }
            registers = try reader.registers()
            if let fault = try? (configuration.fleetLog ?? settings).rollback(of: reader) {
                StandardError.print("warning: \(fault) So the states below are older ones.")
            }
        } else {
            try DurableWrite.requireDirectory(of: settings.key.path)
            StandardError.print(
                "There is no audit log at \(location.text) yet, so the states are those that the configuration gives.")
        }
        return try KeyLifecycleOverview(registers, GatewaySettings(configuration), at: Timestamp.now())
    }

    func longLivedTokens(of keyID: String) async throws -> LongLivedTokens {
        let reader = try settings.location.read()
        defer { reader.close() }
        return try reader.longLivedTokens(at: .now(), keyID: keyID)
    }

    func ask<Answer: Decodable & Sendable>(
        _ path: String, _ body: any Encodable, _ service: LifecycleCall<Answer>
    ) async throws -> Answer {
        guard configuration.fleet == nil else {
            throw CommandError(
                "The keys of a fleet are changed by a running gateway, which the others follow, and none answers on this "
                    + "machine. Start it, or run the command on another machine of the fleet.")
        }
        // A first key is brought into its token, and proved, before the gateway begins the log.
        let isFirst = path.hasPrefix("/v1/ceremonies") || path.hasSuffix("/prove")
        guard try isFirst || settings.location.store.exists(at: settings.location) else {
            throw CommandError(
                "There is no audit log at \(settings.location.text), so no key has a state to change. Start the gateway, which "
                    + "begins the log, or correct audit.database.")
        }
        LogSetup.bootstrapQuietly()
        let lock = try KeyRegisterLock(settings.key.path, settings.location)
        defer { withExtendedLifetime(lock) {} }
        let keyStates = KeyStateCache()
        let audit = try AuditComposition(settings, of: configuration).open(
            isServing: false, as: .gateway, loading: keyStates.load)
        return try await finally(audit.close) {
            try lock.lockRest()
            let gateway = SnapshotHolder(ConfigurationSnapshot(configuration, audit: SigningAudit(audit, keyStates)))
            let lifecycle = KeyLifecycleService(gateway, audit: audit, keyStates: keyStates, isServing: false)
            return try await finally({ await gateway.current.ring.close() }) {
                try await lifecycle.prepare()
                return try await service(lifecycle, .operator(uid: geteuid()))
            }
        }
    }
}
