/// Reads `limits`.
struct LimitsReader {
    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func read(_ node: SettingNode, into limits: inout GatewayConfiguration.Limits) {
        let keys = [
            "connections", "requestTimeout", "handshakeTimeout", "idleTimeout", "headerBytes", "batchBodyBytes",
        ]
        guard let mapping = MappingReader(node, keys: keys, findings) else { return }
        number("connections", 1...1_000_000, in: mapping).map { limits.connections = $0 }
        seconds("requestTimeout", 1...3600, in: mapping).map { limits.requestTimeout = $0 }
        seconds("handshakeTimeout", 1...300, in: mapping).map { limits.handshakeTimeout = $0 }
        seconds("idleTimeout", 1...3600, in: mapping).map { limits.idleTimeout = $0 }
        number("headerBytes", 1024...65_536, in: mapping).map { limits.headerBytes = $0 }
        number("batchBodyBytes", 1024...16_777_216, in: mapping).map { limits.batchBodyBytes = $0 }
    }

    private func number(_ key: String, _ allowed: ClosedRange<Int>, in mapping: MappingReader) -> Int? {
        mapping.optional(key)?.wholeNumber(in: allowed, findings)
    }

    private func seconds(_ key: String, _ allowed: ClosedRange<Int>, in mapping: MappingReader) -> Duration? {
        mapping.optional(key)?.seconds(in: allowed, findings)
    }
}
