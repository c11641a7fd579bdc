import Glibc
import HTTPTypes
import HummingbirdCore
import Signing

/// Admits administrators to the admin listener, and on a Unix socket root and the gateway's own user, which can read
/// its memory and configuration anyway. If an administrator has such a uid, the request counts as that person's.
struct AdminAuthorization {
    let gateway: SnapshotHolder

    func authorizing(_ handler: @escaping RouteTable.Handler) -> RouteTable.Handler {
        { request, context in
            if let uid = context.connection.knownPeer.uid, uid == 0 || uid == geteuid(),
                request.headers[.authorization] == nil
            {
                let person = gateway.current.clients.administrator(uid: uid) ?? .operator(uid: geteuid())
                context.scope.note { ($0.client, $0.administrator) = (person.name, person) }
                return try await handler(request, context)
            }
            let client = try Caller.identify(request, context, in: gateway.current)
            guard client.isAdministrator else {
                throw Problem(.forbidden, "The client \(client.name) is not an administrator.")
            }
            context.scope.note { $0.administrator = client.administrator }
            return try await handler(request, context)
        }
    }
}
