import AuditKit
import AuditLog
import HTTPTypes
import Hummingbird
import Signing

/// Records refusals in the audit log: an entry for each signing request without a signature, and counts of refusals by
/// authentication, authorization and limits. Other failed requests, such as unknown paths, are in the access log only.
struct RefusalRecorder {
    let gateway: SnapshotHolder

    private static let signingRoutes: Set = [SignatureRoute.path, BatchRoute.path, CompatibilityRoute.path]

    /// - Returns: after recording. If the refusal cannot be recorded, the problem to answer with instead.
    func record(_ problem: Problem, _ context: GatewayContext) async -> Problem? {
        guard let audit = gateway.audit else { return nil }
        let known = context.scope.known
        let reason = RefusalReason(problem)
        if reason.isCounted {
            audit.count(reason.type, client: known.client)
            return nil
        }
        guard let client = known.client, problem.kind != .auditUnavailable,
            Self.signingRoutes.contains(context.endpointPath ?? "")
        else { return nil }
        // Charge a request that was refused before it was charged to the client's rate. Over the rate it is only
        // counted. Otherwise a client could fill the disk with requests that are refused early.
        guard known.isAdmitted || admit(client) else {
            audit.count(reason.type, client: client)
            return nil
        }
        let refusal = RefusalRecord(
            client: client, app: known.app, feature: known.feature, keyID: known.keyID, reason: reason.type,
            status: reason.status, requestID: context.scope.requestID)
        do {
            try await audit.record(.refusal(refusal))
            return nil
        } catch {
            return .auditUnavailable
        }
    }

    private func admit(_ name: String) -> Bool {
        let snapshot = gateway.current
        guard let client = snapshot.clients.clients.first(where: { $0.name == name }) else { return true }
        return snapshot.dispatcher.charge(client)
    }
}
