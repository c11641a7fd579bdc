import Hummingbird
import KeyLifecycle
import Signing
import SigningKit
import StrictJSON

/// The key lifecycle routes for administrators: states, changes, proposals and provisioning jobs.
struct KeyRoutes {
    let lifecycle: KeyLifecycleService

    func add(to table: inout RouteTable, _ adminAuthorization: AdminAuthorization) {
        table.get("/v1/keys", adminAuthorization.authorizing(overview))
        table.get("/v1/keys/{keyId}", adminAuthorization.authorizing(key))
        table.post("/v1/keys/{keyId}/prove", adminAuthorization.authorizing(prove))
        for action in KeyChangeOrder.actions {
            table.post(
                "/v1/keys/{keyId}/\(action.rawValue)",
                adminAuthorization.authorizing { request, context in try await change(action, request, context) })
        }
        table.post("/v1/proposals/{id}/approve", adminAuthorization.authorizing(approve))
        table.post("/v1/proposals/{id}/reject", adminAuthorization.authorizing(reject))
        table.post("/v1/ceremonies", adminAuthorization.authorizing(begin))
        table.post("/v1/ceremonies/{id}/finish", adminAuthorization.authorizing(finish))
    }

    // MARK: States

    @Sendable private func overview(_ request: Request, _ context: GatewayContext) async throws -> Response {
        .json(lifecycle.overview())
    }

    @Sendable private func key(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let keyID = try context.parameters.require("keyId")
        return .json(try await answering { () throws(KeyLifecycleRefusal) in try lifecycle.overview(of: keyID) })
    }

    // MARK: Changes

    @Sendable private func prove(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let (keyID, actor) = (try context.parameters.require("keyId"), Self.actor(context))
        return .json(
            try await answering { () throws(KeyLifecycleRefusal) in try await lifecycle.prove(keyID, by: actor) })
    }

    private func change(
        _ action: KeyLifecycleAction, _ request: Request, _ context: GatewayContext
    ) async throws -> Response {
        let keyID = try context.parameters.require("keyId")
        let order = try await Self.read(request) { value throws(JSONReadError) in
            try KeyChangeOrder(action, keyID, from: value)
        }
        let actor = Self.actor(context)
        return Self.response(
            try await answering { () throws(KeyLifecycleRefusal) in try await lifecycle.change(order, by: actor) })
    }

    @Sendable private func approve(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let (id, actor) = (try context.parameters.require("id"), Self.actor(context))
        let digest = try await Self.read(Approval.self, request).digest
        return Self.response(
            try await answering { () throws(KeyLifecycleRefusal) in
                try await lifecycle.approve(id, digest: digest, by: actor)
            }
        )
    }

    private struct Approval: Decodable {
        let digest: String

        enum CodingKeys: String, ClosedCodingKey {
            case digest
        }
    }

    @Sendable private func reject(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let (id, actor) = (try context.parameters.require("id"), Self.actor(context))
        try await answering { () throws(KeyLifecycleRefusal) in try await lifecycle.reject(id, by: actor) }
        return Response(status: .noContent)
    }

    // MARK: Provisioning jobs

    @Sendable private func begin(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let order = try await Self.read(ProvisioningOrder.self, request)
        let actor = Self.actor(context)
        let answer = try await answering { () throws(KeyLifecycleRefusal) in
            try await lifecycle.begin(order, by: actor)
        }
        if case .proposed = answer { return .json(answer, status: .accepted) }
        return .json(answer)
    }

    @Sendable private func finish(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let id = try context.parameters.require("id")
        let end = try await Self.read(ProvisioningResult.self, request)
        let actor = Self.actor(context)
        let outcome = try await answering { () throws(KeyLifecycleRefusal) in
            try await lifecycle.finish(id, end, by: actor)
        }
        if case .waiting = outcome { return .json(outcome, status: .accepted) }
        return .json(outcome)
    }

    // MARK: Helpers

    private static func actor(_ context: GatewayContext) -> Administrator {
        let known = context.scope.known
        return known.administrator ?? Administrator(name: known.client ?? "")
    }

    private static func read<Value: Decodable>(_ type: Value.Type, _ request: Request) async throws -> Value {
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
        do { return try read(root) } catch {
            throw Problem(.invalidRequest, error.description, field: error.path.isEmpty ? nil : error.path)
        }
    }

    private static func response(_ answer: KeyChangeAnswer) -> Response {
        if case .proposed(let proposal) = answer, proposal.approver == nil { return .json(answer, status: .accepted) }
        return .json(answer)
    }

    private func answering<Value>(_ body: () async throws(KeyLifecycleRefusal) -> Value) async throws -> Value {
        do throws(KeyLifecycleRefusal) {
            return try await body()
        } catch {
            switch error.kind {
            case .transition: throw Problem(.changeRefused, error.description)
            case .unknown: throw Problem(.notFound, error.description)
            case .unrecorded:
                var problem = Problem(.auditUnavailable, error.description)
                problem.retryAfter = 2
                throw problem
            }
        }
    }
}
