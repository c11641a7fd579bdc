/// Reads listeners from the file, and their addresses also from the environment.
struct ListenersReader {
    typealias Role = GatewayConfiguration.Listener.Role

    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func read(_ node: SettingNode, into draft: inout ConfigurationDraft) {
        guard let mapping = MappingReader(node, keys: Role.allCases.map(\.rawValue), findings) else { return }
        for role in Role.allCases { mapping.optional(role.rawValue).map { listener($0, &draft[role]) } }
    }

    /// Reads an address from the file, which may give it only once: as `listen` or in its section.
    func address(_ node: SettingNode, ofFileInto draft: inout ListenerDraft) {
        if let first = draft.address?.origin {
            findings.fault(
                .notAllowed("is the same setting as \(first.path), which is also given (\(first)); keep one of them"),
                at: node.origin)
            return
        }
        address(node, into: &draft)
    }

    /// Reads an address that replaces an earlier one.
    func address(_ node: SettingNode, into draft: inout ListenerDraft) {
        let address = node.parsed(findings) { text throws(InvalidValue) in
            try GatewayConfiguration.ListenAddress(text)
        }
        draft.address = OptionalSetting(value: address, origin: node.origin)
    }

    private func listener(_ node: SettingNode, _ draft: inout ListenerDraft) {
        let keys = ["address", "tls", "behindProxy", "mode", "owner"]
        guard let mapping = MappingReader(node, keys: keys, findings) else { return }
        draft.section = node.origin
        draft.isAddressMisspelt = mapping.isMisspelt("address")
        mapping.optional("address").map { address($0, ofFileInto: &draft) }
        draft.tls = mapping.optional("tls").map { given($0, TLSReader(findings).read) }
        draft.behindProxy = mapping.optional("behindProxy").map { given($0) { $0.boolean(findings) } }
        draft.mode = mapping.optional("mode").map { node in
            given(node) {
                $0.parsed(findings) { text throws(InvalidValue) in try GatewayConfiguration.SocketMode(text) }
            }
        }
        draft.owner = mapping.optional("owner").map { node in
            given(node) {
                $0.parsed(findings) { text throws(InvalidValue) in try GatewayConfiguration.SocketOwner(text) }
            }
        }
    }

    private func given<Value>(_ node: SettingNode, _ read: (SettingNode) -> Value?) -> OptionalSetting<Value> {
        OptionalSetting(value: read(node), origin: node.origin)
    }
}
