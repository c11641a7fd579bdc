import Hummingbird

/// Replaces `KeyRoutes` on a gateway without an audit log. Each answer says why keys cannot be changed.
struct AbsentRegisterRoutes {
    private static let sentence =
        "This gateway keeps no audit log, and so no register of keys: activeKey in its configuration says which key "
        + "signs. Add an audit section to the configuration to manage the lifecycle of keys."

    func add(to table: inout RouteTable, _ adminAuthorization: AdminAuthorization) {
        table.get("/v1/keys", adminAuthorization.authorizing { _, _ in throw Problem(.notFound, Self.sentence) })
        table.get(
            "/v1/keys/{keyId}", adminAuthorization.authorizing { _, _ in throw Problem(.notFound, Self.sentence) })
        for path in ["/v1/keys/{keyId}/{action}", "/v1/proposals/{id}/{decision}", "/v1/ceremonies"] {
            table.post(path, adminAuthorization.authorizing { _, _ in throw Problem(.changeRefused, Self.sentence) })
        }
    }
}
