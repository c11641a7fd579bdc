import GatewayConfiguration
import GatewayHTTP

/// The listeners of a configuration, with their certificates read.
struct Listeners {
    let settings: [ListenerSettings]

    /// - Throws: the error with its place in the configuration.
    init(_ configuration: GatewayConfiguration) throws(CommandError) {
        var settings: [ListenerSettings] = []
        for listener in configuration.listeners {
            let place = listener.origin.map { "\($0): " } ?? ""
            do {
                let tls = try listener.tls.map { try TLSIdentity($0) }
                settings.append(
                    ListenerSettings(
                        listener.role, address: listener.address, tls: tls,
                        socket: try SocketPermissions(listener)))
            } catch {
                throw CommandError("\(listener.tls.map { "\($0.origin): " } ?? place)\(error)")
            }
        }
        self.settings = settings
    }

    var identities: [(name: ListenerName, identity: TLSIdentity)] {
        settings.compactMap { settings in settings.tls.map { (settings.name, $0) } }
    }
}
