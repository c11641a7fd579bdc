import AuditLog
import HTTPTypes
import Hummingbird
import Logging
import Signing
import SigningKit

/// Identifies the client of a request by the request's header and connection.
enum Caller {
    /// - Throws: the same problem for every cause, so that the caller learns nothing. The log has the cause at level
    ///   debug.
    static func identify(
        _ request: Request, _ context: GatewayContext, in snapshot: ConfigurationSnapshot
    ) throws(Problem) -> Client {
        let peer = context.connection.knownPeer
        let now = ClockMonitor.systemTime()
        do throws(AccessError) {
            if let certificate = peer.certificate, !certificate.isValid(at: now) {
                throw .unauthenticated(.certificateOutOfDate)
            }
            let evidence = CallerCredentials(
                bearerToken: token(in: request), certificate: peer.certificate?.facts, uid: peer.uid)
            let client = try snapshot.clients.identify(evidence, at: now)
            context.scope.note { $0.client = client.name }
            return client
        } catch {
            guard case .unauthenticated(let reason) = error else { throw unauthenticated }
            context.scope.noteUnauthenticated(context.connection.listener)
            context.logger.debug("A caller was not authenticated: \(reason)")
            throw unauthenticated
        }
    }

    static let unauthenticated = Problem(
        .unauthenticated,
        "Send a valid token in the header Authorization: Bearer …, or use a client certificate that the gateway knows.")

    /// The text after `Bearer` (RFC 6750 §2.1), in any case (RFC 9110 §11.1). For another scheme it returns an empty
    /// token, which is never valid. Nil would count as no proof at all.
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
