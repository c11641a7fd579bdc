import Glibc
import HTTPTypes
import HummingbirdCore
import SigningGateway

/// Stands at the admin listener: lets administrators in, and on a Unix socket the user that the gateway runs as and root,
/// who could read its memory and its configuration anyway. If such a uid belongs to an administrator, the request is theirs.
struct Guardian {
    let gateway: LiveGateway

    func guarding(_ handler: @escaping RouteTable.Handler) -> RouteTable.Handler {
        { request, context in
            if let uid = context.connection.knownPeer.uid, uid == 0 || uid == geteuid(),
                request.headers[.authorization] == nil
            {
                let person = gateway.current.clients.administrator(uid: uid) ?? .operator(uid: geteuid())
                context.exchange.note { ($0.client, $0.administrator) = (person.name, person) }
                return try await handler(request, context)
            }
            let client = try Caller.identify(request, context, in: gateway.current)
            guard client.isAdministrator else {
                throw Problem(.forbidden, "The client \(client.name) is not an administrator.")
            }
            context.exchange.note { $0.administrator = client.administrator }
            return try await handler(request, context)
        }
    }
}
