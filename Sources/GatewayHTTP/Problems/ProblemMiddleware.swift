import HTTPTypes
import Hummingbird
import Logging
import SigningGateway
import SigningKit

/// Turns everything that is thrown further in into a problem document, and 404 into 405 where the path has other methods.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    let methods: MethodTable

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            throw problem
        } catch let error as GatewayError {
            log(error, context.logger)
            throw Problem(error)
        } catch let error as any HTTPResponseError {
            throw problem(for: error, request)
        } catch {
            context.logger.error("A request failed for a reason that nobody foresaw: \(error)")
            throw Problem(.internalError, "The gateway's log says more.")
        }
    }

    private func problem(for error: any HTTPResponseError, _ request: Request) -> any Error {
        switch error.status {
        case .notFound:
            let allowed = methods.methods(for: request.uri.path)
            guard allowed.isEmpty || allowed.contains(request.method) else {
                let names = allowed.map(\.rawValue).joined(separator: ", ")
                var problem = Problem(.methodNotAllowed, "\(request.uri.path) has \(names), not \(request.method).")
                problem.allowed = allowed
                return problem
            }
            return Problem(.notFound, "There is nothing at \(request.uri.path); docs/http-api.md lists what there is.")
        case .contentTooLarge:
            return Problem(.bodyTooLarge, "A body may have at most \(RequestBody.maximumLength) bytes.")
        default: return error
        }
    }

    /// Callers learn little of what is wrong with a key; the operator learns all. A key that is down has said so once, in
    /// the log of keys: a line for each request that meets it would bury everything else.
    private func log(_ error: GatewayError, _ logger: Logger) {
        guard case .key(let error, let keyID) = error else { return }
        let level: Logger.Level = if case .failed = error { .error } else { .debug }
        logger.log(level: level, "No signature: \(error)", metadata: ["keyId": "\(keyID)"])
    }
}
