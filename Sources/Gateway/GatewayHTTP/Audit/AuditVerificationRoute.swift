import AuditKit
import AuditLog
import Hummingbird
import Signing
import StrictJSON

/// `POST /v1/audit/verification`: the gateway verifies its own log and records the verification. To verify without
/// trusting the gateway, run `privyseal audit verify` on a copy.
struct AuditVerificationRoute {
    let routes: AuditRoutes

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try AuditRoutes.refuseParameters(request)
        let reading = routes.reading
        let (report, damaged) = try await routes.read(isVerification: true) { reader in
            let kept = try reading.externals()
            let report = try AuditVerifier(try reading.verifiers(), externals: [kept.checkpoints]).verify(reader)
            return (report, kept.damaged)
        }
        let actor = context.scope.known.client ?? ""
        routes.gateway.audit?.note(.verification(size: report.size, isIntact: report.isIntact, actor: actor))
        let answer: JSONMembers = [
            "outcome": report.isIntact ? "intact" : "broken",
            "origin": report.origin,
            "size": report.size,
            "checkpoints": report.keptChecked,
            "externalCheckpoints": report.externalChecked,
            "unreadableCheckpoints": damaged,
            "uncomparedCheckpoints": report.uncheckable,
            "archived": report.archived,
            "faultCount": report.faultCount,
            "faults": report.faults.map(\.description),
            "proof": report.proof,
        ]
        return .json(answer)
    }
}
