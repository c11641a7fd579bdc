/// Checks the combinations of listener settings, after the file and the variables were read.
struct ListenerRules {
    typealias Listener = GatewayConfiguration.Listener

    let configuration: GatewayConfiguration
    let findings: Findings

    func check() {
        let listeners = configuration.listeners.filter(hasAddress)
        for listener in listeners {
            checkTransport(listener)
            if !listener.address.staysOnMachine { checkExposure(listener) }
        }
        checkAddresses(listeners)
        checkAnonymous()
    }

    /// Whether the listener has a valid address. Only the public one has a default.
    private func hasAddress(_ listener: Listener) -> Bool {
        if listener.origin != nil || listener.role == .public { return !listener.isAddressFaulty }
        if let given = listener.given, !given.isMisspelt("address") {
            let what = "the address that it listens on, such as unix:/run/privyseal/\(listener.role.rawValue).sock"
            findings.fault("is missing; give \(what)", at: given.origin.child("address"))
        }
        return false
    }

    private func checkTransport(_ listener: Listener) {
        guard !listener.address.isUnixSocket else {
            guard let origin = listener.given?.origin(of: "tls") else { return }
            return findings.fault("is for TCP, but this listener is a Unix socket; remove it", at: origin)
        }
        for origin in ["mode", "owner"].compactMap({ listener.given?.origin(of: $0) }) {
            findings.fault("is for a Unix socket, but this listener is not one; remove it", at: origin)
        }
        if listener.tls != nil, listener.isBehindProxy, let origin = listener.given?.origin(of: "behindProxy") {
            findings.fault(
                "says that a proxy terminates TLS, but tls is also given; keep one of them", at: origin)
        }
    }

    /// Requires TLS or a proxy for other machines: an attacker that reads a token has all rights of its client. An invalid
    /// setting already has its own fault.
    private func checkExposure(_ listener: Listener) {
        guard let origin = listener.origin, listener.given?.faulty.contains("tls") != true else { return }
        let name = "listeners.\(listener.role.rawValue)"
        if listener.role == .admin {
            guard listener.tls?.clientCertificates != .required else { return }
            findings.fault(
                "can be reached from other machines, so administrators must show a certificate; give \(name).tls "
                    + "with clientCertificates: required, or listen on a Unix socket or 127.0.0.1", at: origin)
        } else if listener.tls == nil, !listener.isBehindProxy,
            listener.given?.faulty.contains("behindProxy") != true
        {
            findings.fault(
                "can be reached from other machines without TLS, so others could read the traffic; give "
                    + "\(name).tls with a certificate and a key, or set \(name).behindProxy: true if a proxy "
                    + "in front terminates TLS, or listen on 127.0.0.1, [::1] or a Unix socket", at: origin)
        }
    }

    private func checkAddresses(_ listeners: [Listener]) {
        for (index, listener) in listeners.enumerated() {
            if case .tcp(_, 0) = listener.address { continue }
            guard let other = listeners[..<index].first(where: { $0.address == listener.address }),
                let origin = listener.origin ?? other.origin
            else { continue }
            findings.fault(
                "is also the address of listeners.\(other.role.rawValue); give each listener its own", at: origin)
        }
    }

    private func checkAnonymous() {
        guard let anonymous = configuration.given?.origin(of: "anonymous"), configuration.allowsAnonymous else {
            return
        }
        let listener = configuration.publicListener
        if let origin = listener.origin, !listener.isAddressFaulty, !listener.address.staysOnMachine {
            findings.fault(
                "allows every caller everything, and other machines can reach the public listener (\(origin)); "
                    + "remove it and give clients, or listen on 127.0.0.1, [::1] or a Unix socket", at: anonymous)
        } else if listener.isBehindProxy, let origin = listener.given?.origin(of: "behindProxy") {
            findings.fault(
                "allows every caller everything, including callers through the proxy (\(origin)); remove it and "
                    + "give clients, or remove behindProxy", at: anonymous)
        }
    }
}
