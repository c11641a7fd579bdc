import HTTPTypes
import Hummingbird
import Logging
import Signing
import SigningKit

/// Converts errors to problem documents with the request's ID, and 404 to 405 if the path has other methods.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = GatewayContext

    let methods: MethodTable
    let recorder: RefusalRecorder

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            // The router skips empty segments; a proxy in front of it may not.
            guard !Self.hasEmptySegment(request.uri.path) else { throw HTTPError(.notFound) }
            return try await next(request, context)
        } catch {
            var problem = problem(for: error, request, context)
            if let worse = await recorder.record(problem, context) { problem = worse }
            problem.requestID = context.scope.requestID
            context.scope.note { $0.problem = problem.kind }
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
            context.logger.error("A request failed with an unexpected error: \(error)")
            return Problem(.internalError, "The gateway's log says more.")
        }
    }

    private func problem(for error: any HTTPResponseError, _ request: Request) -> Problem {
        switch error.status {
        case .notFound:
            let allowed = Self.hasEmptySegment(request.uri.path) ? [] : methods.methods(for: request.uri.path)
            guard allowed.isEmpty || allowed.contains(request.method) else {
                let names = allowed.map(\.rawValue).joined(separator: ", ")
                var problem = Problem(.methodNotAllowed, "\(request.uri.path) allows \(names), not \(request.method).")
                problem.allowed = allowed
                return problem
            }
            return Problem(.notFound, "There is nothing at \(request.uri.path); docs/http-api.md lists the paths.")
        default: return Problem(.malformedBody, "The gateway cannot process the request as it was sent.")
        }
    }

    private static func hasEmptySegment(_ path: String) -> Bool {
        path.utf8.count > 1 && (path.utf8.last == UInt8(ascii: "/") || path.contains("//"))
    }

    /// Logs what the answer does not tell the caller about a key. A failing key was logged once when it failed. So a
    /// request that meets such a key is logged at debug level, or these lines would hide all others.
    private func log(_ error: GatewayError, _ logger: Logger) {
        guard case .key(let error, let keyID) = error else { return }
        let level: Logger.Level = if case .failed = error { .error } else { .debug }
        logger.log(level: level, "No signature: \(error)", metadata: ["keyId": "\(keyID)"])
    }
}
