/// The faults and warnings of a reading. Readers continue after a fault, so that one run finds all of them.
final class Findings {
    /// What readers need to know of the program's plugins.
    let plugins: Plugins
    private(set) var faults: [ConfigurationFault] = []
    private var warnings: [ConfigurationWarning] = []

    init(_ plugins: Plugins) {
        self.plugins = plugins
    }

    func fault(_ reason: ConfigurationFault.Reason, at origin: ConfigurationOrigin) {
        faults.append(ConfigurationFault(origin: origin, reason: reason))
    }

    func warn(_ sentence: String, at origin: ConfigurationOrigin) {
        warnings.append(ConfigurationWarning(origin: origin, sentence: sentence))
    }

    /// - Throws: All faults so far, sorted by line. Faults without a line come last.
    func throwFaults() throws(ConfigurationError) {
        guard !faults.isEmpty else { return }
        throw ConfigurationError(Self.sorted(faults, by: \.origin))
    }

    var warningCount: Int { warnings.count }

    /// Sorted by line. Warnings without a line come last. If not all are listed, one more says how many are missing.
    var listedWarnings: [ConfigurationWarning] {
        let sorted = Self.sorted(warnings, by: \.origin)
        let listed = Array(sorted.prefix(ConfigurationError.listed))
        guard let last = listed.last, sorted.count > listed.count else { return listed }
        let rest = ConfigurationWarning(
            origin: ConfigurationOrigin(source: last.origin.source),
            sentence: "… and \(sorted.count - listed.count) more warnings")
        return listed + [rest]
    }

    private static func sorted<Finding>(
        _ findings: [Finding], by origin: (Finding) -> ConfigurationOrigin
    ) -> [Finding] {
        let order = findings.indices.sorted { left, right in
            (origin(findings[left]).line ?? .max, left) < (origin(findings[right]).line ?? .max, right)
        }
        return order.map { findings[$0] }
    }
}
