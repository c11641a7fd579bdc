import Hummingbird
import StrictJSON

/// `POST /v1/reload`. With `?dryRun=true` it only reports the changes.
struct ReloadRoute {
    static let path = "/v1/reload"

    let administration: any Administration

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let query = try QueryString(request.uri.query)
        for name in query.names where name != "dryRun" {
            throw Problem(
                .invalidParameter, "The parameter \"\(name)\" is not known here; the only one is dryRun.", field: name)
        }
        let isTrial = query.names.isEmpty ? false : try flag(query)
        switch await administration.reload(isTrial: isTrial, by: context.scope.known.client ?? "") {
        case .applied(let changes): return answer("applied", changes)
        case .wouldApply(let changes): return answer("would-apply", changes)
        case .unchanged: return answer("unchanged", [])
        case .refused(let sentence): throw Problem(.reloadRefused, sentence)
        }
    }

    private func flag(_ query: QueryString) throws(Problem) -> Bool {
        switch try query.required("dryRun") {
        case "true": return true
        case "false": return false
        default: throw Problem(.invalidParameter, "The parameter \"dryRun\" must be true or false.", field: "dryRun")
        }
    }

    private func answer(_ outcome: String, _ changes: [String]) -> Response {
        .json(["outcome": outcome, "changes": changes] as JSONMembers)
    }
}
