import Hummingbird

/// In the place of `KeyRoutes` on a gateway without an audit log: says why nothing can be changed.
struct AbsentRegisterRoutes {
    private static let sentence =
        "This gateway keeps no audit log, and so no register of keys: activeKey in its configuration says which key signs. Give "
        + "the configuration an audit section to lead keys through their lives."

    func add(to table: inout RouteTable, _ guardian: Guardian) {
        table.get("/v1/keys", guardian.guarding { _, _ in throw Problem(.notFound, Self.sentence) })
        table.get("/v1/keys/{keyId}", guardian.guarding { _, _ in throw Problem(.notFound, Self.sentence) })
        for path in ["/v1/keys/{keyId}/{action}", "/v1/proposals/{id}/{decision}", "/v1/ceremonies"] {
            table.post(path, guardian.guarding { _, _ in throw Problem(.changeRefused, Self.sentence) })
        }
    }
}
