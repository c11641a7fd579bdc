import AuditLog
import Glibc
import HTTPTypes
import HummingbirdCore
import Signing
public import SigningKit
import StrictJSON

/// The operations on a running gateway.
public protocol Administration: Sendable {
    var version: String { get }
    /// When the process began.
    var begun: ContinuousClock.Instant { get }
    /// The path of the configuration file.
    var configuration: String { get }
    /// The result of the last reload; nil if there was none.
    var lastReload: ProcessEvent? { get }
    /// The last warnings and errors, oldest first.
    var events: [ProcessEvent] { get }

    /// Reads the configuration again and applies it. An unusable configuration changes nothing.
    ///
    /// - Parameters:
    ///   - isTrial: true to report the changes without applying them.
    ///   - actor: the requesting client's name, for the audit log.
    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome

    /// The processes that hold the keys.
    var signers: [SignerStatus] { get }
    /// Signatures since the start that were neither recorded nor discarded.
    var signaturesWithoutRecord: Int { get async }

    /// Replaces the processes of a signer while it signs.
    ///
    /// - Returns: false if there is no signer of this name.
    /// - Throws: the reason, if the new processes could not open every key. The old ones then stay.
    func restartSigner(_ name: String, by actor: String) async throws(SignerRestartError) -> Bool
}

/// Why a signer was not replaced, as a sentence.
public struct SignerRestartError: Error {
    public let sentence: String

    public init(sentence: String) {
        self.sentence = sentence
    }
}

public enum ReloadOutcome: Sendable {
    /// A sentence for each change.
    case applied([String])
    case wouldApply([String])
    case unchanged
    /// The error in the new configuration; the running configuration is unchanged.
    case refused(String)
}

extension RequestScope {
    /// Admits administrators to the admin listener, and on a Unix socket root and the gateway's own user, which can read
    /// its memory and configuration anyway. If an administrator has such a uid, the request counts as that person's.
    func requireAdministrator(_ request: Request, in snapshot: ConfigurationSnapshot) async throws(Problem) {
        if let uid = connection.knownPeer.uid, uid == 0 || uid == geteuid(), request.headers[.authorization] == nil {
            let person = snapshot.clients.administrator(uid: uid) ?? .operator(uid: geteuid())
            return note { ($0.client, $0.administrator) = (person.name, person) }
        }
        let client = try await identify(request, in: snapshot)
        guard client.isAdministrator else {
            throw Problem(.forbidden, "The client \(client.name) is not an administrator.")
        }
        note { $0.administrator = client.administrator }
    }
}

struct AdminRoutes {
    let administration: any Administration
    let router: GatewayRouter
    let listeners: [ListenerSettings]
    /// Nil for a gateway that belongs to no fleet.
    let fleetLog: AuditLog?

    func add(to routes: inout Routes) {
        routes.get("/v1/status", status)
        routes.post("/v1/reload", reload)
        routes.get("/v1/signers") { request, _ in await response(administration.signers, to: request) }
        routes.post("/v1/signers/{name}/restart", restartSigner)
    }

    /// `POST /v1/signers/{name}/restart` answers when the new processes sign.
    @Sendable private func restartSigner(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let name = try scope.parameter("name")
        let isKnown: Bool
        do throws(SignerRestartError) {
            isKnown = try await administration.restartSigner(name, by: scope.known.client ?? "")
        } catch {
            throw Problem(.signerNotReplaced, error.sentence)
        }
        guard isKnown else {
            let names = Set(administration.signers.map(\.name)).sorted().joined(separator: ", ")
            throw Problem(
                .notFound, "No such signer runs; the signers are \(names). Reload to open a token that failed.")
        }
        return await response(administration.signers.filter { $0.name == name }, to: request)
    }

    /// JSON, or plain text with `Accept: text/plain`.
    private func response(_ signers: [SignerStatus], to request: Request) async -> Response {
        let count = await administration.signaturesWithoutRecord
        let status = SignersStatus(signaturesWithoutRecord: count, signers: signers)
        return request.headers[.accept]?.hasPrefix("text/plain") == true ? .text(status.text) : .json(status)
    }

    /// `GET /v1/status`: JSON, or plain text with `Accept: text/plain`.
    @Sendable private func status(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let status = await GatewayStatus(administration, router, listeners, fleetLog)
        return request.headers[.accept]?.hasPrefix("text/plain") == true ? .text(status.text) : .json(status)
    }

    /// `POST /v1/reload`. With `?dryRun=true` it only reports the changes.
    @Sendable private func reload(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let query = try QueryString(request.uri.query, allowing: ["dryRun"])
        let isTrial =
            try query.optional("dryRun", "true or false") { ["true": true, "false": false][$0] } ?? false
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
