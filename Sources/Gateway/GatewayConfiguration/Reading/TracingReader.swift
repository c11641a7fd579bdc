struct TracingReader {
    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func read(_ node: SettingNode) -> GatewayConfiguration.Tracing? {
        guard let mapping = MappingReader(node, keys: ["endpoint", "sampling", "serviceName"], findings) else {
            return nil
        }
        let what = "the URL of a collector that accepts OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces"
        let endpoint = mapping.required("endpoint", what)?.parsed(findings) { text throws(InvalidValue) in
            try GatewayConfiguration.Endpoint(text, for: .traces)
        }
        let sampling = mapping.optional("sampling").map { $0.number(in: 0...1, findings) } ?? 1
        let name =
            mapping.optional("serviceName").map { $0.identifier(findings) }
            ?? GatewayConfiguration.Tracing.defaultServiceName
        guard let endpoint, let sampling, let name else { return nil }
        return GatewayConfiguration.Tracing(
            endpoint: endpoint, sampling: sampling, serviceName: name, origin: node.origin)
    }
}
