import AuditKit
import AuditLog
import Foundation
import GatewayConfiguration
import GatewayHTTP
import KeyLifecycle
import Signing

/// The gateway within one command that signs: it uses the configuration's keys and audit log as a serving gateway does.
struct CommandGateway {
    typealias Names = (app: String?, feature: String?, keyID: String?)

    private let configuration: GatewayConfiguration
    let snapshot: ConfigurationSnapshot
    let logs: AuditLogs?
    let request = RequestIdentity(id: "command-\(UUID().uuidString.lowercased())")

    static func open(_ config: ConfigurationOption) throws -> CommandGateway {
        LogSetup.bootstrapQuietly()
        let configuration = try config.load()
        let logs = try AuditLogs.open(configuration, isServing: false)
        let snapshot = ConfigurationSnapshot(configuration, audit: logs?.signing)
        snapshot.declareKeys()
        return CommandGateway(configuration: configuration, snapshot: snapshot, logs: logs)
    }

    /// Signs, records a refusal, and closes keys and audit log.
    ///
    /// - Parameter names: what the request names, as far as the configuration has it, for the entry of a refusal.
    func run(_ sign: () async throws -> String, names: () -> Names) async throws -> String {
        do {
            await logs?.log.requireQuorum()
            let answer = try await sign()
            await close()
            return answer
        } catch {
            let refusal = error as? GatewayError
            if let refusal { await record(refusal, names()) }
            await close()
            guard let instead = refusal.flatMap(configuration.namesInstead) else { throw error }
            throw CommandError("\(error) \(instead)")
        }
    }

    private func record(_ error: GatewayError, _ names: Names) async {
        let reason = RefusalReason(error)
        try? await snapshot.dispatcher.audit?.record(
            .refusal(
                client: Client.operator.name, app: names.app, feature: names.feature, keyID: names.keyID,
                reason: reason.type, status: reason.status, requestID: request.id))
    }

    private func close() async {
        await snapshot.ring.close()
        await logs?.close()
    }
}
