extension GatewayConfiguration {
    public struct Listener: SettingSection {
        /// The purpose of a listener: its key under `listeners`, and its name in metrics and logs.
        public enum Role: String, Encodable, CaseIterable, Sendable {
            /// Signing requests.
            case `public`
            /// Administration, for administrators only.
            case admin
            /// Metrics for Prometheus.
            case metrics
        }

        public let role: Role
        public internal(set) var address: ListenAddress = .standard
        /// The origin of the address, for the error about a port in use; nil for the default.
        public internal(set) var origin: ConfigurationOrigin?
        /// Whether the address that was given last is invalid.
        private(set) var isAddressFaulty = false
        /// Nil for plain HTTP; always nil on a Unix socket.
        public internal(set) var tls: TLS?
        /// Whether a proxy in front of the listener terminates TLS.
        public internal(set) var isBehindProxy = false
        /// For a Unix socket; nil leaves it to the process's umask.
        public internal(set) var mode: SocketMode?
        /// For a Unix socket; nil leaves it to the process's user and group.
        public internal(set) var owner: SocketOwner?
        /// The keys of its section in the file; nil without a section.
        private(set) var given: GivenSettings?

        init(_ role: Role) {
            self.role = role
        }

        /// Address, TLS, mode and owner need a restart: the gateway creates its sockets once, and clients are connected.
        static let settings: [Setting<Self>] = [
            .key(
                "address", values: "a host and a port, or `unix:` and a path",
                standard: "only the public listener has one", needsRestart: true,
                "where it listens; different for each listener",
                read: { $1.readAddress($0, replaces: false, $2) },
                outline: { .setting("address", $0.address.description, needsRestart: true) }),
            Setting(
                name: "protocol",
                outline: { .setting("protocol", $0.tls == nil ? "http" : "https", needsRestart: true) }),
            .section("tls", optional: \.tls, summary: "see [TLS](#tls); for TCP only. Without it, plain HTTP") {
                TLS(origin: $0)
            },
            .value("behindProxy", \.isBehindProxy, .boolean, "`true` if a proxy in front of it terminates TLS"),
            .optional(
                "mode", \.mode, .parsed("four octal digits that begin with 0, such as `\"0660\"`", SocketMode.init),
                needsRestart: true,
                standard: "`\"0600\"`: the owner, and root",
                "which users may connect to a Unix socket; to connect, a user needs the right to write"),
            .optional(
                "owner", \.owner, .parsed("`USER` or `USER:GROUP`", SocketOwner.init), needsRestart: true,
                standard: "the gateway's user and group",
                "the owner of a Unix socket, by name"),
        ]

        mutating func finish(_ given: GivenSettings, _ findings: Findings) { self.given = given }

        /// - Parameter replaces: whether it may replace another one. The file may give the address only once: as `listen` or
        ///   in the listener's section.
        mutating func readAddress(_ node: SettingNode, replaces: Bool, _ findings: Findings) -> Bool {
            if !replaces, let origin {
                findings.fault(
                    "is the same setting as \(origin.path), which is also given (\(origin)); keep one of them",
                    at: node.origin)
                return false
            }
            origin = node.origin
            let address = node.parsed(findings) { text throws(InvalidValue) in try ListenAddress(text) }
            isAddressFaulty = address == nil
            self.address = address ?? self.address
            return !isAddressFaulty
        }
    }

    /// The listeners by role. The public one always exists.
    struct Listeners: SettingSection {
        var byRole = [Listener.Role.public: Listener(.public)]

        static let settings: [Setting<Self>] = [
            .listener(.public, "PRIVYSEAL_LISTEN", standard: "`127.0.0.1:8080`", "where clients request signatures"),
            .listener(
                .admin, "PRIVYSEAL_ADMIN_LISTEN", standard: "none",
                "where `privyseal status`, `privyseal reload` and other administrators connect"),
            .listener(.metrics, "PRIVYSEAL_METRICS_LISTEN", standard: "none", "where Prometheus reads `/metrics`"),
        ]
    }

    public var publicListener: Listener { namedListeners.byRole[.public] ?? Listener(.public) }

    public var adminListener: Listener? { namedListeners.byRole[.admin] }

    public var metricsListener: Listener? { namedListeners.byRole[.metrics] }

    public var listeners: [Listener] { Listener.Role.allCases.compactMap { namedListeners.byRole[$0] } }
}

extension Setting<GatewayConfiguration.Listeners> {
    /// A listener, with the variable for its address.
    fileprivate static func listener(
        _ role: GatewayConfiguration.Listener.Role, _ variable: String, standard: String, _ summary: String
    ) -> Self {
        var row = section(role.rawValue, optional: \.byRole[role]) { _ in GatewayConfiguration.Listener(role) }
        row.variables = [
            SettingVariable(name: variable) { node, listeners, findings in
                listeners.byRole[role, default: GatewayConfiguration.Listener(role)]
                    .readAddress(node, replaces: true, findings)
            }
        ]
        let own = SettingReference(
            path: role.rawValue + ".address", values: "as `listen`", standard: standard, summary: summary,
            variable: variable)
        // The keys of a listener are described once.
        let members = GatewayConfiguration.Listener.reference(of: GatewayConfiguration.Listener(role))
        row.reference = { _ in [own] + (role == .public ? members.map { $0.below("NAME.") } : []) }
        return row
    }
}
