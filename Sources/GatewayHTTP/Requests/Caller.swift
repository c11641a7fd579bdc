import HTTPTypes
import Hummingbird
import Logging
import SigningGateway
import SigningKit

/// Finds out who sent a request, from all that its header and its connection show.
enum Caller {
    /// - Throws: the same problem for everything that can be wrong, so that nobody learns which part it was. The
    ///   operator's log says more, at level debug.
    static func identify(
        _ request: Request, _ context: GatewayContext, in generation: GatewayGeneration
    ) throws(Problem) -> Client {
        let peer = context.connection.knownPeer
        let now = GrantIssuer.systemTime()
        do throws(AccessError) {
            if let certificate = peer.certificate, !certificate.isValid(at: now) {
                throw .unauthenticated(.certificateOutOfDate)
            }
            let evidence = CallerEvidence(
                bearerToken: token(in: request), certificate: peer.certificate?.facts, uid: peer.uid)
            let client = try generation.clients.identify(evidence, at: now)
            context.exchange.note { $0.client = client.name }
            return client
        } catch {
            guard case .unauthenticated(let reason) = error else { throw unauthenticated }
            context.exchange.noteUnauthenticated(context.connection.listener)
            context.logger.debug("A request was not let in: \(reason)")
            throw unauthenticated
        }
    }

    static let unauthenticated = Problem(
        .unauthenticated,
        "Send a valid token in the header Authorization: Bearer …, or show a client certificate that is known here.")

    /// What follows `Bearer` (RFC 6750 §2.1), in any case (RFC 9110 §11.1). A header that is something else proves nothing,
    /// and is not taken for nothing: an empty token is never right.
    private static func token(in request: Request) -> String? {
        guard let header = request.headers[.authorization] else { return nil }
        let scheme = "bearer "
        guard header.utf8.count > scheme.utf8.count,
            header.utf8.prefix(scheme.utf8.count).equalsIgnoringASCIICase(scheme)
        else {
            return ""
        }
        return String(Substring(header.utf8.dropFirst(scheme.utf8.count)))
    }
}
