import HTTPTypes
import HummingbirdCore
import KeyLifecycle
import Signing
import SigningKit
import StrictJSON

/// The key lifecycle routes for administrators: states, changes, proposals and provisioning jobs.
struct KeyRoutes {
    let lifecycle: KeyLifecycleService

    func add(to routes: inout Routes) {
        routes.get("/v1/keys") { _, _ in .json(lifecycle.overview()) }
        routes.get("/v1/keys/{keyId}") { _, scope in .json(try lifecycle.overview(of: try scope.parameter("keyId"))) }
        routes.post("/v1/keys/{keyId}/prove") { _, scope in
            .json(try await lifecycle.prove(try scope.parameter("keyId"), by: scope.administrator))
        }
        for action in KeyChangeOrder.actions {
            routes.post("/v1/keys/{keyId}/\(action.rawValue)") { request, scope in
                try await change(action, request, scope)
            }
        }
        routes.post("/v1/proposals/{id}/approve", approve)
        routes.post("/v1/proposals/{id}/reject") { _, scope in
            try await lifecycle.reject(try scope.parameter("id"), by: scope.administrator)
            return Response(status: .noContent)
        }
        routes.post("/v1/ceremonies", begin)
        routes.post("/v1/ceremonies/{id}/finish", finish)
    }

    /// The same routes on a gateway without an audit log. Each answer says why keys cannot be changed.
    static func addRefusals(to routes: inout Routes) {
        let sentence =
            "This gateway keeps no audit log, and so no register of keys: activeKey in its configuration says which "
            + "key signs. Add an audit section to the configuration to manage the lifecycle of keys."
        for path in ["/v1/keys", "/v1/keys/{keyId}"] {
            routes.get(path) { _, _ in throw Problem(.notFound, sentence) }
        }
        let changes = [
            "/v1/keys/{keyId}/{action}", "/v1/proposals/{id}/{decision}", "/v1/ceremonies",
            "/v1/ceremonies/{id}/finish",
        ]
        for path in changes {
            routes.post(path) { _, _ in throw Problem(.changeRefused, sentence) }
        }
    }

    // MARK: Changes

    private func change(
        _ action: KeyLifecycleAction, _ request: Request, _ scope: RequestScope
    ) async throws -> Response {
        let keyID = try scope.parameter("keyId")
        let order = try await Self.read(request) { value throws(JSONReadError) in
            try KeyChangeOrder(action, keyID, from: value)
        }
        return Self.response(try await lifecycle.change(order, by: scope.administrator))
    }

    @Sendable private func approve(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let id = try scope.parameter("id")
        let digest = try await Self.read(Approval.self, request).digest
        return Self.response(try await lifecycle.approve(id, digest: digest, by: scope.administrator))
    }

    private struct Approval: Decodable {
        let digest: String

        enum CodingKeys: String, ClosedCodingKey {
            case digest
        }
    }

    private static func response(_ answer: KeyLifecycleAnswer) -> Response {
        switch answer {
        case .proposed(let proposal) where proposal.approver == nil: .json(answer, status: .accepted)
        case .waiting, .activating: .json(answer, status: .accepted)
        case .done, .proposed, .begun, .ended: .json(answer)
        }
    }

    // MARK: Provisioning jobs

    @Sendable private func begin(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let order = try await Self.read(ProvisioningOrder.self, request)
        return Self.response(try await lifecycle.begin(order, by: scope.administrator))
    }

    @Sendable private func finish(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let id = try scope.parameter("id")
        let end = try await Self.read(ProvisioningResult.self, request)
        return Self.response(try await lifecycle.finish(id, end, by: scope.administrator))
    }

    // MARK: Bodies

    static func read<Value: Decodable>(_ type: Value.Type, _ request: Request) async throws -> Value {
        try await read(request) { value throws(JSONReadError) in try value.decode(type) }
    }

    private static func read<Value>(
        _ request: Request, _ read: (JSONValue) throws(JSONReadError) -> Value
    ) async throws -> Value {
        let body = try await RequestBody.read(request)
        let root: JSONValue
        do { root = try JSONDocument(parsing: body).root } catch {
            throw Problem(.malformedBody, error.description)
        }
        do { return try read(root) } catch { throw Problem(error) }
    }
}

extension RequestScope {
    /// The administrator who sent the request.
    var administrator: Administrator {
        let known = known
        return known.administrator ?? Administrator(name: known.client ?? "")
    }
}
