import SigningKit
import StrictJSON

/// The claim `scope` of tokens for App Store Connect: each entry is an HTTP method and a path, such as
/// `GET /v1/ciProducts?limit=10` (Apple: "Generating Tokens for API Requests").
enum AppStoreConnectScope {
    /// The limit in seconds for any request.
    private static let ordinary: Int64 = 1200

    /// The resources for which Apple accepts a longer token, as they are named in paths.
    private static let longLived: Set<Substring> = [
        "ciBuildActions", "ciBuildRuns", "scmGitReferences", "ciIssues", "ciMacOsVersions", "ciProducts",
        "scmProviders", "perfPowerMetrics", "diagnosticSignatures", "scmPullRequests", "scmRepositories",
        "ciTestResults", "ciWorkflows", "ciXcodeVersions",
    ]

    /// The most seconds that Apple accepts for these scopes; nil for the limit of the profile.
    static func limit(_ choices: ServiceTokenChoices) throws(JSONReadError) -> Int64? {
        for (index, scope) in choices.scopes.enumerated() {
            let parts = scope.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 2, ["GET", "POST", "PATCH", "DELETE"].contains(parts[0]), isPlainPath(parts[1]) else {
                throw JSONReadError(
                    .invalid("is not a method and a plain path; write it as in GET /v1/apps"), at: "scopes[\(index)]")
            }
        }
        return !choices.scopes.isEmpty && choices.scopes.allSatisfy(isLongLived) ? nil : ordinary
    }

    /// Whether the path names a resource as it stands: with `..` or an encoded slash, a server could read another one, which
    /// the rule of the client does not allow.
    private static func isPlainPath(_ text: Substring) -> Bool {
        let path = text.prefix { $0 != "?" }
        guard path.hasPrefix("/"), !path.contains("%"), !path.contains("\\") else { return false }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".."
        }
    }

    private static func isLongLived(_ scope: String) -> Bool {
        guard scope.hasPrefix("GET /") else { return false }
        let path = scope.dropFirst("GET /".count).prefix { $0 != "?" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return false }
        return longLived.contains(parts[1]) || parts.last == "perfPowerMetrics"
    }
}
