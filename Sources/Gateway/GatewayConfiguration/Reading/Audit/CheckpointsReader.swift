/// Reads `audit.checkpoints`.
struct CheckpointsReader {
    typealias Checkpoints = GatewayConfiguration.Checkpoints
    typealias File = GatewayConfiguration.File

    /// The allowed values of `interval`, in seconds.
    private static let intervals = 1...86_400
    private static let standardInterval = Duration.seconds(60)

    private let vocabulary: PluginNames
    private let findings: Findings

    init(_ vocabulary: PluginNames, _ findings: Findings) {
        self.vocabulary = vocabulary
        self.findings = findings
    }

    /// - Parameters:
    ///   - node: Nil if all settings have their defaults.
    ///   - audit: The origin of the section `audit`.
    ///   - database: Nil if it could not be read. There is no default for `file` then.
    func read(_ node: SettingNode?, of audit: ConfigurationOrigin, beside database: File?) -> Checkpoints? {
        let node = node ?? SettingNode(content: .mapping([]), origin: audit.child("checkpoints"))
        let keys = ["interval", "file", "output", "url", "tokenFile", "cosigner"]
        guard let mapping = MappingReader(node, keys: keys, findings) else { return nil }
        let interval =
            mapping.optional("interval").map { $0.seconds(in: Self.intervals, findings) } ?? Self.standardInterval
        let file =
            mapping.optional("file").map { $0.file(findings, such: "/mnt/worm/privyseal.checkpoints") }
            ?? database?.beside(".checkpoints", mapping.origin.child("file"))
        let output =
            mapping.optional("output").map { $0.choice(Checkpoints.Output.self, findings) } ?? Checkpoints.Output.none
        let endpoint = mapping.optional("url").flatMap { self.endpoint($0) }
        let tokenFile = self.tokenFile(mapping)
        let cosigner = mapping.optional("cosigner").flatMap { self.cosigner($0) }
        guard let interval, let file, let output else { return nil }
        return Checkpoints(
            interval: interval, file: file, output: output, endpoint: endpoint, tokenFile: tokenFile, cosigner: cosigner
        )
    }

    /// Requires TLS to other machines: over plain HTTP, others could change a checkpoint or read the token.
    private func endpoint(_ node: SettingNode) -> GatewayConfiguration.Endpoint? {
        node.parsed(findings) { text throws(InvalidValue) in
            let endpoint = try GatewayConfiguration.Endpoint(text, for: .checkpoints)
            guard endpoint.usesTLS || endpoint.staysOnMachine else {
                throw InvalidValue(
                    "goes to another machine without TLS, so data could be changed in transit; give an https:// URL"
                )
            }
            return endpoint
        }
    }

    private func tokenFile(_ mapping: MappingReader) -> File? {
        guard let node = mapping.optional("tokenFile") else { return nil }
        guard mapping.isPresentOrMisspelt("url") else {
            let sentence = "has no effect, because checkpoints are not posted to a URL; give url, or remove it"
            findings.fault(.notAllowed(sentence), at: node.origin)
            return nil
        }
        return node.file(findings, such: "/etc/privyseal/witness.token")
    }

    private func cosigner(_ node: SettingNode) -> GatewayConfiguration.Cosigner? {
        KeyURIReader(vocabulary, findings).read(node).map {
            GatewayConfiguration.Cosigner(uri: $0.uri, address: $0.address, origin: node.origin)
        }
    }
}
