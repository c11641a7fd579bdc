import AuditKit
import HTTPTypes
import Hummingbird
import SigningGateway

/// Puts refusals on record: each request for a signature that got none, and counts of those who were turned away at the
/// door. What nobody asked a signature of, such as a path that there is not, stands in the log of requests only.
struct RefusalWitness {
    let gateway: LiveGateway

    private static let signingRoutes: Set = [SignatureRoute.path, BatchRoute.path, CompatibilityRoute.path]

    /// Returns when it is recorded.
    ///
    /// - Returns: what to answer instead, where it cannot be recorded.
    func record(_ problem: Problem, _ context: GatewayContext) async -> Problem? {
        guard let audit = gateway.audit else { return nil }
        let known = context.exchange.known
        if problem.kind.isCounted {
            audit.count(problem.kind.rawValue, client: known.client)
            return nil
        }
        guard let client = known.client, problem.kind != .auditUnavailable,
            Self.signingRoutes.contains(context.endpointPath ?? "")
        else { return nil }
        // What was refused before it was taken from the client's rate is taken now: over the rate it is only counted, or a
        // client could fill the disk with requests that never come as far as that.
        guard known.isAdmitted || admit(client) else {
            audit.count(problem.kind.rawValue, client: client)
            return nil
        }
        let refusal = RefusalRecord(
            client: client, app: known.app, feature: known.feature, keyID: known.keyID, reason: problem.kind.rawValue,
            status: problem.status.code, requestID: context.exchange.requestID)
        do {
            try await audit.record(.refusal(refusal))
            return nil
        } catch {
            return .auditUnavailable
        }
    }

    private func admit(_ name: String) -> Bool {
        let generation = gateway.current
        guard let client = generation.clients.clients.first(where: { $0.name == name }) else { return true }
        return generation.dispatcher.charge(client)
    }
}
