/// Values from the file and the variables, before `ListenerRules` combines them.
struct ConfigurationDraft {
    var listeners = GatewayConfiguration.Listener.Role.allCases.map { ListenerDraft(role: $0) }
    var anonymous: OptionalSetting<Bool>?

    subscript(role: ListenerDraft.Role) -> ListenerDraft {
        get { listeners.first { $0.role == role } ?? ListenerDraft(role: role) }
        set { listeners = listeners.map { $0.role == role ? newValue : $0 } }
    }
}
