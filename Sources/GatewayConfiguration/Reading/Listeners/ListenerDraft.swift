/// What is known of a listener while the file and the variables are read: an address from a variable may go with the rest
/// from the file, so what must go together is judged at the end.
struct ListenerDraft {
    typealias Role = GatewayConfiguration.Listener.Role

    let role: Role
    /// Of its section in the file; nil when there is none.
    var section: ConfigurationOrigin?
    var address: Given<GatewayConfiguration.ListenAddress>?
    var isAddressMisspelt = false
    var tls: Given<GatewayConfiguration.TLS>?
    var behindProxy: Given<Bool>?
    var mode: Given<GatewayConfiguration.SocketMode>?
    var owner: Given<GatewayConfiguration.SocketOwner>?

    /// What messages call its section.
    var name: String { "listeners.\(role.rawValue)" }
}
