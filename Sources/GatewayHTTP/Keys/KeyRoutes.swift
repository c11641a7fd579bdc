import Hummingbird
import SigningGateway
import SigningKit
import StrictJSON

/// The life of keys, for administrators: what is known, changes, proposals, and work on tokens.
struct KeyRoutes {
    let office: KeyOffice

    func add(to table: inout RouteTable, _ guardian: Guardian) {
        table.get("/v1/keys", guardian.guarding(overview))
        table.get("/v1/keys/{keyId}", guardian.guarding(key))
        table.post("/v1/keys/{keyId}/prove", guardian.guarding(prove))
        for action in KeyChangeOrder.actions {
            table.post(
                "/v1/keys/{keyId}/\(action.rawValue)",
                guardian.guarding { request, context in try await change(action, request, context) })
        }
        table.post("/v1/proposals/{id}/approve", guardian.guarding(approve))
        table.post("/v1/proposals/{id}/reject", guardian.guarding(reject))
        table.post("/v1/ceremonies", guardian.guarding(begin))
        table.post("/v1/ceremonies/{id}/finish", guardian.guarding(finish))
    }

    // MARK: Looking

    @Sendable private func overview(_ request: Request, _ context: GatewayContext) async throws -> Response {
        .json(office.overview().jsonBytes(capacity: 4096))
    }

    @Sendable private func key(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let keyID = try context.parameters.require("keyId")
        return .json(try await answering { () throws(KeyLifeRefusal) in try office.overview(of: keyID) }.jsonBytes())
    }

    // MARK: Changing

    @Sendable private func prove(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let (keyID, actor) = (try context.parameters.require("keyId"), Self.actor(context))
        return .json(
            try await answering { () throws(KeyLifeRefusal) in try await office.prove(keyID, by: actor) }.jsonBytes())
    }

    private func change(
        _ action: KeyLifeAction, _ request: Request, _ context: GatewayContext
    ) async throws -> Response {
        let keyID = try context.parameters.require("keyId")
        let order = try await Self.read(request) { value throws(JSONReadError) in
            try KeyChangeOrder(action, keyID, from: value)
        }
        let actor = Self.actor(context)
        return Self.response(
            try await answering { () throws(KeyLifeRefusal) in try await office.change(order, by: actor) })
    }

    @Sendable private func approve(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let (id, actor) = (try context.parameters.require("id"), Self.actor(context))
        let digest = try await Self.read(request) { value throws(JSONReadError) in
            try value.object(members: ["digest"]).text("digest")
        }
        return Self.response(
            try await answering { () throws(KeyLifeRefusal) in try await office.approve(id, digest: digest, by: actor) }
        )
    }

    @Sendable private func reject(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let (id, actor) = (try context.parameters.require("id"), Self.actor(context))
        try await answering { () throws(KeyLifeRefusal) in try await office.reject(id, by: actor) }
        return Response(status: .noContent)
    }

    // MARK: Work on tokens

    @Sendable private func begin(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let order = try await Self.read(request, KeyCeremonyOrder.init(from:))
        let actor = Self.actor(context)
        let answer = try await answering { () throws(KeyLifeRefusal) in try await office.begin(order, by: actor) }
        if case .proposed = answer { return .json(answer.jsonBytes(), status: .accepted) }
        return .json(answer.jsonBytes())
    }

    @Sendable private func finish(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let id = try context.parameters.require("id")
        let end = try await Self.read(request, KeyCeremonyEnd.init(from:))
        let actor = Self.actor(context)
        let outcome = try await answering { () throws(KeyLifeRefusal) in try await office.finish(id, end, by: actor) }
        if case .waiting = outcome { return .json(outcome.jsonBytes(), status: .accepted) }
        return .json(outcome.jsonBytes())
    }

    // MARK: Parts

    private static func actor(_ context: GatewayContext) -> Administrator {
        let known = context.exchange.known
        return known.administrator ?? Administrator(name: known.client ?? "")
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
        if case .proposed(let proposal) = answer, proposal.approver == nil {
            return .json(answer.jsonBytes(), status: .accepted)
        }
        return .json(answer.jsonBytes(capacity: 2048))
    }

    private func answering<Value>(_ body: () async throws(KeyLifeRefusal) -> Value) async throws -> Value {
        do throws(KeyLifeRefusal) {
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
