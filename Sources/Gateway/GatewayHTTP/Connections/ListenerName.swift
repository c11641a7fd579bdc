public import GatewayConfiguration

public typealias ListenerName = GatewayConfiguration.Listener.Role
