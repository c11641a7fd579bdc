import HTTPTypes
import Hummingbird
import Logging
import SigningGateway
import SigningKit

/// Turns everything that is thrown further in into a problem document with the request's ID, and 404 into 405 where the path has other methods.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = GatewayContext

    let methods: MethodTable
    let witness: RefusalWitness

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            // The router skips empty segments; another server in front of it may not.
            guard !Self.hasEmptySegment(request.uri.path) else { throw HTTPError(.notFound) }
            return try await next(request, context)
        } catch {
            var problem = problem(for: error, request, context)
            if let worse = await witness.record(problem, context) { problem = worse }
            problem.requestID = context.exchange.requestID
            context.exchange.note { $0.problem = problem.kind }
            return problem.response
        }
    }

    private func problem(for error: any Error, _ request: Request, _ context: Context) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as GatewayError:
            log(error, context.logger)
            return Problem(error)
        case let error as any HTTPResponseError: return problem(for: error, request)
        default:
            context.logger.error("A request failed for a reason that nobody foresaw: \(error)")
            return Problem(.internalError, "The gateway's log says more.")
        }
    }

    private func problem(for error: any HTTPResponseError, _ request: Request) -> Problem {
        switch error.status {
        case .notFound:
            let allowed = Self.hasEmptySegment(request.uri.path) ? [] : methods.methods(for: request.uri.path)
            guard allowed.isEmpty || allowed.contains(request.method) else {
                let names = allowed.map(\.rawValue).joined(separator: ", ")
                var problem = Problem(.methodNotAllowed, "\(request.uri.path) has \(names), not \(request.method).")
                problem.allowed = allowed
                return problem
            }
            return Problem(.notFound, "There is nothing at \(request.uri.path); docs/http-api.md lists what there is.")
        default: return Problem(.malformedBody, "The request cannot be used as it came.")
        }
    }

    private static func hasEmptySegment(_ path: String) -> Bool {
        path.utf8.count > 1 && (path.utf8.last == UInt8(ascii: "/") || path.contains("//"))
    }

    /// Callers learn little of what is wrong with a key; the operator learns all. A key that is down has said so once, in
    /// the log of keys: a line for each request that meets it would bury everything else.
    private func log(_ error: GatewayError, _ logger: Logger) {
        guard case .key(let error, let keyID) = error else { return }
        let level: Logger.Level = if case .failed = error { .error } else { .debug }
        logger.log(level: level, "No signature: \(error)", metadata: ["keyId": "\(keyID)"])
    }
}
