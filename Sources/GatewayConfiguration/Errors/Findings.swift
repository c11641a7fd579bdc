/// What a reading finds besides values. Readers go on after a fault, so that one run finds all of them.
final class Findings {
    private(set) var faults: [ConfigurationFault] = []
    private var warnings: [ConfigurationWarning] = []

    func fault(_ reason: ConfigurationFault.Reason, at origin: ConfigurationOrigin) {
        faults.append(ConfigurationFault(origin: origin, reason: reason))
    }

    func warn(_ sentence: String, at origin: ConfigurationOrigin) {
        warnings.append(ConfigurationWarning(origin: origin, sentence: sentence))
    }

    /// - Throws: everything that was found so far, by line; what has no line comes last.
    func throwFaults() throws(ConfigurationError) {
        guard !faults.isEmpty else { return }
        throw ConfigurationError(Self.sorted(faults, by: \.origin))
    }

    var warningCount: Int { warnings.count }

    /// By line; what has no line comes last. After the most that are listed, one says how many more there are.
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
