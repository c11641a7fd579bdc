/// What a reading finds besides values. Readers go on after a fault, so that one run finds all of them.
final class Findings {
    private(set) var faults: [ConfigurationFault] = []
    private(set) var warnings: [ConfigurationWarning] = []

    func fault(_ reason: ConfigurationFault.Reason, at origin: ConfigurationOrigin) {
        faults.append(ConfigurationFault(origin: origin, reason: reason))
    }

    func warn(_ sentence: String, at origin: ConfigurationOrigin) {
        warnings.append(ConfigurationWarning(origin: origin, sentence: sentence))
    }

    /// - Throws: everything that was found so far, by line; what has no line comes last.
    func throwFaults() throws(ConfigurationError) {
        guard !faults.isEmpty else { return }
        let order = faults.indices.sorted { left, right in
            (faults[left].origin.line ?? .max, left) < (faults[right].origin.line ?? .max, right)
        }
        throw ConfigurationError(order.map { faults[$0] })
    }
}
