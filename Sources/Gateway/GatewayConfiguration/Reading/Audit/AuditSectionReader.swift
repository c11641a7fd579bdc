/// Reads `audit`, without opening a file.
struct AuditSectionReader {
    typealias Audit = GatewayConfiguration.Audit

    private enum Limits {
        /// In seconds.
        static let writeTimeouts = 1...60
        /// In MiB.
        static let reserves = 1...1_048_576
        /// In bytes. The origin is the first line of a checkpoint.
        static let originLength = 1...128
    }

    private enum Defaults {
        static let writeTimeout = Duration.seconds(2)
        /// In MiB.
        static let reserve = 256
    }

    private static let mebibyte = 1 << 20
    private static let example = "/var/lib/privyseal/audit.db"

    private let vocabulary: PluginNames
    private let findings: Findings

    init(_ vocabulary: PluginNames, _ findings: Findings) {
        self.vocabulary = vocabulary
        self.findings = findings
    }

    func read(_ node: SettingNode, into configuration: inout GatewayConfiguration) {
        guard case .scalar(let text, let isPlain) = node.content, !node.isNull else {
            configuration.audit = section(node)
            return
        }
        if text == "off" || (isPlain && text == "false") {
            configuration.isAuditOff = true
        } else {
            // Do not repeat the text: it may be the address of a database, with a password.
            let sentence = "must be off, or a mapping with the database, as in {database: \(Self.example)}"
            findings.fault(.notAllowed(sentence), at: node.origin)
        }
    }

    /// Warns about a missing `audit`, because the operator may not know of the setting.
    func warnOfMissingAudit(at file: ConfigurationOrigin) {
        let sentence =
            "is missing, so signatures are not recorded; add audit: {database: \(Self.example)}, or audit: off if "
            + "this is intended"
        findings.warn(sentence, at: file.child("audit"))
    }

    private func section(_ node: SettingNode) -> Audit? {
        let keys = ["database", "key", "origin", "writeTimeout", "reserve", "checkpoints"]
        guard let mapping = MappingReader(node, keys: keys, findings) else { return nil }
        let database = mapping.required("database", "the absolute path of the log's database, such as \(Self.example)")
            .flatMap { self.database($0) }
        let key = file("key", in: mapping, beside: database, ".key")
        let origin = mapping.optional("origin").map { self.origin($0) }
        let timeout =
            mapping.optional("writeTimeout").map { $0.seconds(in: Limits.writeTimeouts, findings) }
            ?? Defaults.writeTimeout
        let reserve =
            mapping.optional("reserve").map { $0.wholeNumber(in: Limits.reserves, findings) } ?? Defaults.reserve
        let checkpoints = CheckpointsReader(vocabulary, findings).read(
            mapping.optional("checkpoints"), of: node.origin, beside: database)
        checkDistinct([database, key, checkpoints?.file, checkpoints?.tokenFile].compactMap(\.self))
        for file in [key, checkpoints?.file, checkpoints?.tokenFile].compactMap(\.self) {
            checkNotCompanion(file, of: database, key)
        }
        guard let database, let key, let timeout, let reserve, let checkpoints else { return nil }
        return Audit(
            database: database, key: key, origin: origin ?? nil, writeTimeout: timeout,
            reserveBytes: reserve * Self.mebibyte, checkpoints: checkpoints, section: node.origin)
    }

    /// A path, with the scheme of its store (`sqlite:`) or without.
    private func database(_ node: SettingNode) -> GatewayConfiguration.File? {
        node.file(findings, such: Self.example) { $0.hasPrefix("sqlite:") ? String($0.dropFirst(7)) : $0 }
    }

    private func file(
        _ name: String, in mapping: MappingReader, beside database: GatewayConfiguration.File?, _ suffix: String
    ) -> GatewayConfiguration.File? {
        guard let node = mapping.optional(name) else { return database?.beside(suffix, mapping.origin.child(name)) }
        return node.file(findings, such: Self.example + suffix)
    }

    /// Accepts what a line of a note and the name of its key may contain (C2SP signed-note, tlog-checkpoint).
    private func origin(_ node: SettingNode) -> String? {
        node.parsed(findings) { text throws(InvalidValue) in
            let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "+") }
            guard isVisible, Limits.originLength.contains(text.utf8.count) else {
                throw InvalidValue(
                    "must be 1 to 128 visible ASCII characters without spaces and plus signs, such as "
                        + "example.com/privyseal/shop-1")
            }
            return text
        }
    }

    /// Refuses the files that the gateway itself keeps next to the database and the key.
    private func checkNotCompanion(
        _ file: GatewayConfiguration.File, of database: GatewayConfiguration.File?, _ key: GatewayConfiguration.File?
    ) {
        var companions: [String] = []
        if let path = database?.path {
            companions += ["-wal", "-shm", "-journal"].map { path + $0 }
            companions.append((path.hasSuffix(".db") ? String(path.dropLast(3)) : path) + ".index.db")
        }
        if let path = key?.path { companions.append(path + ".pub") }
        guard companions.contains(file.path) else { return }
        findings.fault(.notAllowed("is a file of the audit log itself; give another path"), at: file.origin)
    }

    /// Refuses one file for two settings: the gateway would overwrite its contents.
    private func checkDistinct(_ files: [GatewayConfiguration.File]) {
        for (index, file) in files.enumerated() {
            guard let other = files[..<index].first(where: { $0.path == file.path }) else { continue }
            let sentence = "is also the path of \(other.origin.path); give each file its own path"
            findings.fault(.notAllowed(sentence), at: file.origin)
        }
    }
}

extension GatewayConfiguration.File {
    /// The default file next to this one.
    func beside(_ suffix: String, _ origin: ConfigurationOrigin) -> Self {
        Self(path: path + suffix, origin: origin)
    }
}
