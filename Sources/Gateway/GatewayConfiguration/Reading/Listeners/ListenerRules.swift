/// Checks the combinations of listener settings, after the file and the variables were read.
struct ListenerRules {
    typealias Listener = GatewayConfiguration.Listener

    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func finish(_ draft: ConfigurationDraft, _ configuration: inout GatewayConfiguration) {
        configuration.allowsAnonymous = draft.anonymous?.value ?? false
        for listener in draft.listeners.compactMap({ self.listener($0) }) {
            switch listener.role {
            case .public: configuration.publicListener = listener
            case .admin: configuration.adminListener = listener
            case .metrics: configuration.metricsListener = listener
            }
        }
        checkAddresses(configuration.listeners)
        checkAnonymous(draft)
    }

    /// Nil if there is no listener, or if its address has a fault.
    private func listener(_ draft: ListenerDraft) -> Listener? {
        guard let address = address(of: draft) else { return nil }
        var listener = Listener(role: draft.role, address: address, origin: draft.address?.origin)
        listener.tls = draft.tls?.value
        listener.isBehindProxy = draft.behindProxy?.value ?? false
        listener.mode = draft.mode?.value
        listener.owner = draft.owner?.value
        if address.isUnixSocket { checkSocket(draft) } else { checkTCP(draft) }
        if !address.staysOnMachine { checkExposure(draft) }
        return listener
    }

    private func address(of draft: ListenerDraft) -> GatewayConfiguration.ListenAddress? {
        if let given = draft.address { return given.value }
        if draft.role == .public { return .standard }
        if let section = draft.section, !draft.isAddressMisspelt {
            let what = "the address that it listens on, such as unix:/run/privyseal/\(draft.role.rawValue).sock"
            findings.fault(.missing(what), at: section.child("address"))
        }
        return nil
    }

    private func checkSocket(_ draft: ListenerDraft) {
        guard let tls = draft.tls else { return }
        findings.fault(.notAllowed("is for TCP, but this listener is a Unix socket; remove it"), at: tls.origin)
    }

    private func checkTCP(_ draft: ListenerDraft) {
        for origin in [draft.mode?.origin, draft.owner?.origin].compactMap(\.self) {
            findings.fault(.notAllowed("is for a Unix socket, but this listener is not one; remove it"), at: origin)
        }
        if draft.tls != nil, let behindProxy = draft.behindProxy, behindProxy.value == true {
            let sentence = "says that a proxy terminates TLS, but tls is also given; keep one of them"
            findings.fault(.notAllowed(sentence), at: behindProxy.origin)
        }
    }

    /// Requires TLS or a proxy for other machines: an attacker that reads a token has all rights of its client.
    private func checkExposure(_ draft: ListenerDraft) {
        guard let origin = draft.address?.origin else { return }
        if draft.role == .admin {
            guard draft.tls == nil || draft.tls?.value.map({ $0.clientCertificates != .required }) == true else {
                return
            }
            let sentence =
                "can be reached from other machines, so administrators must show a certificate; give \(draft.name).tls "
                + "with clientCertificates: required, or listen on a Unix socket or 127.0.0.1"
            findings.fault(.notAllowed(sentence), at: origin)
        } else if draft.tls == nil, draft.behindProxy == nil || draft.behindProxy?.value == false {
            let sentence =
                "can be reached from other machines without TLS, so others could read the traffic; give "
                + "\(draft.name).tls with a certificate and a key, or set \(draft.name).behindProxy: true if a proxy "
                + "in front terminates TLS, or listen on 127.0.0.1, [::1] or a Unix socket"
            findings.fault(.notAllowed(sentence), at: origin)
        }
    }

    private func checkAddresses(_ listeners: [Listener]) {
        for (index, listener) in listeners.enumerated() {
            if case .tcp(_, 0) = listener.address { continue }
            guard let other = listeners[..<index].first(where: { $0.address == listener.address }),
                let origin = listener.origin ?? other.origin
            else { continue }
            let sentence = "is also the address of listeners.\(other.role.rawValue); give each listener its own"
            findings.fault(.notAllowed(sentence), at: origin)
        }
    }

    private func checkAnonymous(_ draft: ConfigurationDraft) {
        guard let anonymous = draft.anonymous, anonymous.value == true else { return }
        let listener = draft[.public]
        if let address = listener.address, address.value?.staysOnMachine == false {
            let sentence =
                "allows every caller everything, and other machines can reach the public listener (\(address.origin)); "
                + "remove it and give clients, or listen on 127.0.0.1, [::1] or a Unix socket"
            findings.fault(.notAllowed(sentence), at: anonymous.origin)
        } else if let proxy = listener.behindProxy, proxy.value == true {
            let sentence =
                "allows every caller everything, including callers through the proxy (\(proxy.origin)); remove it and "
                + "give clients, or remove behindProxy"
            findings.fault(.notAllowed(sentence), at: anonymous.origin)
        }
    }
}
