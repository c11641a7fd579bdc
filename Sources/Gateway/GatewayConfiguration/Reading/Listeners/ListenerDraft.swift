/// The settings of a listener while the file and the variables are read. The address may come from a variable and the
/// rest from the file, so `ListenerRules` checks the combination at the end.
struct ListenerDraft {
    typealias Role = GatewayConfiguration.Listener.Role

    let role: Role
    /// The origin of its section in the file; nil without a section.
    var section: ConfigurationOrigin?
    var address: OptionalSetting<GatewayConfiguration.ListenAddress>?
    var isAddressMisspelt = false
    var tls: OptionalSetting<GatewayConfiguration.TLS>?
    var behindProxy: OptionalSetting<Bool>?
    var mode: OptionalSetting<GatewayConfiguration.SocketMode>?
    var owner: OptionalSetting<GatewayConfiguration.SocketOwner>?

    /// The name of its section in messages.
    var name: String { "listeners.\(role.rawValue)" }
}
