import GatewayConfiguration
import GatewayHTTP

/// The listeners of a configuration, with their certificates read.
struct Listeners {
    let settings: [ListenerSettings]

    /// - Throws: the error with its place in the configuration.
    init(_ configuration: GatewayConfiguration) throws(CommandError) {
        settings = try configuration.listeners.map { listener throws(CommandError) in try ListenerSettings(listener) }
    }

    var identities: [(name: ListenerName, identity: TLSIdentity)] {
        settings.compactMap { settings in settings.tls.map { (settings.name, $0) } }
    }
}

extension ListenerSettings {
    /// Reads the TLS files, and finds the owner of the socket.
    ///
    /// - Throws: the error with its place in the configuration.
    init(_ listener: GatewayConfiguration.Listener) throws(CommandError) {
        do {
            let tls = try listener.tls.map { try TLSIdentity($0) }
            self.init(listener.role, address: listener.address, tls: tls, socket: try SocketPermissions(listener))
        } catch {
            let place = listener.tls?.origin ?? listener.origin
            throw CommandError("\(place.map { "\($0): " } ?? "")\(error)")
        }
    }
}
