import AuditKit
import Hummingbird
import SigningGateway
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
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.member("outcome", report.isIntact ? "intact" : "broken")
            writer.member("origin", report.origin)
            writer.member("size", report.size)
            writer.member("checkpoints", report.keptChecked)
            writer.member("externalCheckpoints", report.externalChecked)
            writer.member("unreadableCheckpoints", damaged)
            writer.member("uncomparedCheckpoints", report.uncheckable)
            writer.member("archived", report.archived)
            writer.member("faultCount", report.faultCount)
            writer.name("faults")
            writer.array { writer in for fault in report.faults { writer.string(fault.description) } }
            if let proof = report.proof { writer.member("proof", proof) }
        }
        return .json(writer.bytes)
    }
}
