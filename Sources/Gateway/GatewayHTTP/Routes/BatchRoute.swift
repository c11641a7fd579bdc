import GatewayConfiguration
import Hummingbird
import Signing
import SigningKit
import StrictJSON

/// `POST /v1/apps/{bundleId}/{feature}/batch`: signs up to 100 requests of one feature. The answer has one result for
/// each, in the same order: a response or a problem.
struct BatchRoute {
    static let path = "/v1/apps/{bundleId}/{feature}/batch"
    static let maximumCount = 100

    let gateway: SnapshotHolder
    let registry: ConnectionRegistry

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let snapshot = gateway.current
        let client = try Caller.identify(request, context, in: snapshot)
        let route = try context.route(for: client, in: snapshot)
        // Charge one request before reading the body, and the others when the body shows their number.
        try context.admit(client, for: route, in: snapshot)
        let body = try await context.body(of: request, upTo: registry.bounds.batchBodyBytes, in: registry)
        let requests = try requests(in: body)
        try context.admit(client, count: requests.count, taken: 1, for: route, in: snapshot)
        let results = await snapshot.dispatcher.sign(requests, for: route, reason: RefusalReason.init(_:))
        return .json(write(results, context.scope.requestID))
    }

    private func requests(in body: [UInt8]) throws -> [JSONValue] {
        let requests: [JSONValue]
        do {
            requests = try JSONDocument(parsing: body).root.object(members: ["requests"])
                .required("requests") { value throws(JSONReadError) in try value.elements() }
        } catch let error as JSONSyntaxError {
            throw GatewayError.request(.body(error))
        } catch let error as JSONReadError {
            throw GatewayError.request(.request(error))
        }
        guard (1...Self.maximumCount).contains(requests.count) else {
            throw Problem(
                .invalidRequest,
                "The member \"requests\" has \(requests.count) elements; it may have 1 to \(Self.maximumCount).",
                field: "requests")
        }
        return requests
    }

    private func write(_ results: [Result<[UInt8], GatewayError>], _ requestID: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024 * results.count)
        writer.object { writer in
            writer.name("results")
            writer.array { writer in for result in results { write(result, requestID, to: &writer) } }
        }
        return writer.bytes
    }

    private func write(
        _ result: Result<[UInt8], GatewayError>, _ requestID: String, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            switch result {
            case .success(let response):
                writer.member("status", 200)
                writer.name("response")
                writer.raw(response)
            case .failure(let error):
                var problem = Problem(error)
                problem.requestID = requestID
                writer.member("status", problem.status.code)
                writer.name("problem")
                problem.write(to: &writer)
            }
        }
    }
}
