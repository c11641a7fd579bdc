import SigningKit

extension GatewayConfiguration {
    /// Every setting, including defaults. A change of a setting that is missing here is not reported.
    var outline: SettingTree {
        .members(
            [
                .group("listeners", listeners.map { .group($0.role.rawValue, $0.outline) }),
                .setting("anonymous", allowsAnonymous.description),
                .group("clients", clients.map { .element($0.name, $0.outline) }),
                .group("limits", limits.outline),
                .setting("verification", verification.description),
                .setting("validation.advancedCommerce", validation.advancedCommerce.rawValue),
                .setting("logging.level", logging.level.rawValue),
                .setting("logging.format", logging.format.rawValue, needsRestart: true),
                .setting("drainDelay", drainDelay.outline, needsRestart: true),
                .setting("shutdownGracePeriod", shutdownGracePeriod.outline, needsRestart: true),
                .setting("proofInterval", proofInterval.outline),
                .group("backends", backendOutline),
                .group("accounts", accounts.map { .element($0.issuerID, $0.outline) }),
            ] + (tracing.map { [.group("tracing", $0.outline)] } ?? [])
                + (audit.map { [.group("audit", $0.outline)] } ?? [])
                + (drills.map { [.group("drills", [.setting("directory", $0.directory.path)])] } ?? []))
    }

    private var backendOutline: [SettingTree.Member] {
        backendTexts.sorted { $0.key < $1.key }.map { scheme, settings in
            .group(scheme, settings.sorted { $0.key < $1.key }.map { .setting($0.key, $0.value) })
        }
    }
}

extension Duration {
    var outline: String { "\(components.seconds) s" }
}

extension GatewayConfiguration.Listener {
    /// Address, TLS, mode and owner need a restart: the gateway creates its sockets once, and clients are connected.
    fileprivate var outline: [SettingTree.Member] {
        [.setting("address", address.description, needsRestart: true)]
            + [.setting("protocol", tls == nil ? "http" : "https", needsRestart: true)]
            + (tls.map { [.group("tls", $0.outline)] } ?? [])
            + [.setting("behindProxy", isBehindProxy.description)]
            + (mode.map { [.setting("mode", $0.description, needsRestart: true)] } ?? [])
            + (owner.map { [.setting("owner", $0.description, needsRestart: true)] } ?? [])
    }
}

extension GatewayConfiguration.TLS {
    fileprivate var outline: [SettingTree.Member] {
        [
            .setting("certificate", certificate.path), .setting("key", key.path),
            .setting("minimumVersion", minimumVersion.rawValue),
            .setting("clientCertificates", clientCertificates.rawValue),
        ] + (trustRoots.map { [.setting("trustRoots", $0.path)] } ?? [])
    }
}

extension GatewayConfiguration.Limits {
    fileprivate var outline: [SettingTree.Member] {
        [
            .setting("connections", connections.description), .setting("requestTimeout", requestTimeout.outline),
            .setting("handshakeTimeout", handshakeTimeout.outline), .setting("idleTimeout", idleTimeout.outline),
            .setting("connectionAge", connectionAge.outline), .setting("headerBytes", headerBytes.description),
            .setting("batchBodyBytes", batchBodyBytes.description),
            .setting("clientBodyBytes", clientBodyBytes.description),
            .setting("totalBodyBytes", totalBodyBytes.description),
        ]
    }
}

extension GatewayConfiguration.Tracing {
    fileprivate var outline: [SettingTree.Member] {
        [
            .setting("endpoint", endpoint.text, needsRestart: true),
            .setting("sampling", Decimal.text(sampling), needsRestart: true),
            .setting("serviceName", serviceName, needsRestart: true),
        ]
    }
}

extension GatewayConfiguration.Account {
    fileprivate var outline: [SettingTree.Member] {
        [
            .group("apps", apps.map { .element($0.bundleID, [.set("features", $0.features)]) }),
            .group("keys", keys.map { .element($0.keyID, $0.outline) }),
            .setting("activeKey", activeKeyID),
            .setting("dualControl", hasDualControl && !countsOperator ? "true without operator" : "\(hasDualControl)"),
            .setting("proposalLifetime", proposalLifetime.outline),
        ]
    }
}

extension GatewayConfiguration.Key {
    fileprivate var outline: [SettingTree.Member] {
        [.setting("uri", uri.description, compared: uri.text)]
            + (fingerprint.map { [.setting("publicKey", $0.description)] } ?? [])
            + (publicKey.map { [.setting("publicKeyFile", PublicKeyFingerprint(of: $0).description)] } ?? [])
            + [.setting("cryptoperiod", "\(cryptoperiod) d")]
            + (provenance.map { [.setting("provenance", $0.rawValue)] } ?? [])
    }
}
