import Glibc
import HTTPTypes
import HummingbirdCore
import Signing
import StrictJSON

/// The operations on a running gateway.
public protocol Administration: Sendable {
    /// The facts about the process for `GET /v1/status`.
    func process() -> ProcessStatus

    /// Reads the configuration again and applies it. An unusable configuration changes nothing.
    ///
    /// - Parameters:
    ///   - isTrial: true to report the changes without applying them.
    ///   - actor: the requesting client's name, for the audit log.
    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome
}

public enum ReloadOutcome: Sendable {
    /// A sentence for each change.
    case applied([String])
    case wouldApply([String])
    case unchanged
    /// The error in the new configuration; the running configuration is unchanged.
    case refused(String)
}

/// Admits administrators to the admin listener, and on a Unix socket root and the gateway's own user, which can read
/// its memory and configuration anyway. If an administrator has such a uid, the request counts as that person's.
struct AdminAuthorization {
    let gateway: SnapshotHolder

    func authorizing(_ handler: @escaping Routes.Handler) -> Routes.Handler {
        { request, scope in
            if let uid = scope.connection.knownPeer.uid, uid == 0 || uid == geteuid(),
                request.headers[.authorization] == nil
            {
                let person = gateway.current.clients.administrator(uid: uid) ?? .operator(uid: geteuid())
                scope.note { ($0.client, $0.administrator) = (person.name, person) }
                return try await handler(request, scope)
            }
            let client = try scope.identify(request, in: gateway.current)
            guard client.isAdministrator else {
                throw Problem(.forbidden, "The client \(client.name) is not an administrator.")
            }
            scope.note { $0.administrator = client.administrator }
            return try await handler(request, scope)
        }
    }
}

struct AdminRoutes {
    let administration: any Administration
    let router: GatewayRouter
    let listeners: [ListenerSettings]

    func add(to routes: inout Routes) {
        routes.get("/v1/status", status)
        routes.post("/v1/reload", reload)
    }

    /// `GET /v1/status`: JSON, or plain text with `Accept: text/plain`.
    @Sendable private func status(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let status = await GatewayStatus(administration.process(), router, listeners)
        return request.headers[.accept]?.hasPrefix("text/plain") == true ? .text(status.text) : .json(status)
    }

    /// `POST /v1/reload`. With `?dryRun=true` it only reports the changes.
    @Sendable private func reload(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let query = try QueryString(request.uri.query, allowing: ["dryRun"])
        let isTrial: Bool
        switch query["dryRun"] {
        case nil, "false": isTrial = false
        case "true": isTrial = true
        default: throw Problem(.invalidParameter, "The parameter \"dryRun\" must be true or false.", field: "dryRun")
        }
        let (outcome, changes): (String, [String])
        switch await administration.reload(isTrial: isTrial, by: scope.known.client ?? "") {
        case .applied(let all): (outcome, changes) = ("applied", all)
        case .wouldApply(let all): (outcome, changes) = ("would-apply", all)
        case .unchanged: (outcome, changes) = ("unchanged", [])
        case .refused(let sentence): throw Problem(.reloadRefused, sentence)
        }
        return .json(["outcome": outcome, "changes": changes] as JSONMembers)
    }
}
