struct LimitsReader {
    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func read(_ node: SettingNode, into limits: inout GatewayConfiguration.Limits) {
        let keys = [
            "connections", "requestTimeout", "handshakeTimeout", "idleTimeout", "connectionAge", "headerBytes",
            "batchBodyBytes", "clientBodyBytes", "totalBodyBytes",
        ]
        guard let mapping = MappingReader(node, keys: keys, findings) else { return }
        number("connections", 1...1_000_000, in: mapping).map { limits.connections = $0 }
        seconds("requestTimeout", 1...3600, in: mapping).map { limits.requestTimeout = $0 }
        seconds("handshakeTimeout", 1...300, in: mapping).map { limits.handshakeTimeout = $0 }
        seconds("idleTimeout", 1...3600, in: mapping).map { limits.idleTimeout = $0 }
        seconds("connectionAge", 1...86_400, in: mapping).map { limits.connectionAge = $0 }
        number("headerBytes", 1024...65_536, in: mapping).map { limits.headerBytes = $0 }
        number("batchBodyBytes", 1024...16_777_216, in: mapping).map { limits.batchBodyBytes = $0 }
        number("clientBodyBytes", 65_536...1_073_741_824, in: mapping).map { limits.clientBodyBytes = $0 }
        number("totalBodyBytes", 65_536...17_179_869_184, in: mapping).map { limits.totalBodyBytes = $0 }
        requireOrder(of: limits, in: mapping)
    }

    /// Without this order, the gateway would never read a body above the limit of its client.
    private func requireOrder(of limits: GatewayConfiguration.Limits, in mapping: MappingReader) {
        require("clientBodyBytes", limits.clientBodyBytes, toHold: "batchBodyBytes", limits.batchBodyBytes, in: mapping)
        require("totalBodyBytes", limits.totalBodyBytes, toHold: "clientBodyBytes", limits.clientBodyBytes, in: mapping)
    }

    private func require(
        _ key: String, _ value: Int, toHold other: String, _ least: Int, in mapping: MappingReader
    ) {
        guard value < least else { return }
        let origin = mapping.optional(key)?.origin ?? mapping.origin.child(key)
        findings.fault(.notAllowed("is \(value), which is less than limits.\(other), \(least)"), at: origin)
    }

    private func number(_ key: String, _ allowed: ClosedRange<Int>, in mapping: MappingReader) -> Int? {
        mapping.optional(key)?.wholeNumber(in: allowed, findings)
    }

    private func seconds(_ key: String, _ allowed: ClosedRange<Int>, in mapping: MappingReader) -> Duration? {
        mapping.optional(key)?.seconds(in: allowed, findings)
    }
}
