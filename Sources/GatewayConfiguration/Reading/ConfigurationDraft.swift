/// Everything that is read before the parts are put together.
struct ConfigurationDraft {
    var listeners = GatewayConfiguration.Listener.Role.allCases.map { ListenerDraft(role: $0) }
    var anonymous: Given<Bool>?

    subscript(role: ListenerDraft.Role) -> ListenerDraft {
        get { listeners.first { $0.role == role } ?? ListenerDraft(role: role) }
        set { listeners = listeners.map { $0.role == role ? newValue : $0 } }
    }
}
