import SigningKit

/// The faults and warnings of a reading. Readers continue after a fault, so that one run finds all of them.
final class Findings {
    let plugins: Plugins
    private(set) var faults: [ConfigurationFinding] = []
    private var warnings: [ConfigurationFinding] = []
    private var firstOrigins: [[AnyHashable]: ConfigurationOrigin] = [:]

    init(_ plugins: Plugins) {
        self.plugins = plugins
    }

    func fault(_ sentence: String, at origin: ConfigurationOrigin) {
        faults.append(ConfigurationFinding(origin: origin, sentence: sentence))
    }

    func warn(_ sentence: String, at origin: ConfigurationOrigin) {
        warnings.append(ConfigurationFinding(origin: origin, sentence: sentence))
    }

    /// The origin of the first value with this identity; nil if this value is the first.
    func earlier(_ identity: AnyHashable..., at origin: ConfigurationOrigin) -> ConfigurationOrigin? {
        if let first = firstOrigins[identity] { return first }
        firstOrigins[identity] = origin
        return nil
    }

    /// Whether there are so many faults or warnings that a suggestion for each would take seconds. Most are not listed.
    var hasManyFaults: Bool { faults.count >= 1000 }
    var hasManyWarnings: Bool { warnings.count >= ConfigurationError.listed }

    /// - Throws: All faults so far, sorted by line. Faults without a line come last.
    func throwFaults() throws(ConfigurationError) {
        guard !faults.isEmpty else { return }
        throw ConfigurationError(Self.sorted(faults))
    }

    /// Sorted by line. Warnings without a line come last. If not all are listed, one more says how many are missing.
    var listedWarnings: [ConfigurationFinding] {
        let sorted = Self.sorted(warnings)
        let listed = Array(sorted.prefix(ConfigurationError.listed))
        guard let last = listed.last, sorted.count > listed.count else { return listed }
        let rest = ConfigurationFinding(
            origin: ConfigurationOrigin(source: last.origin.source),
            sentence: "… and \(sorted.count - listed.count) more warnings")
        return listed + [rest]
    }

    private static func sorted(_ findings: [ConfigurationFinding]) -> [ConfigurationFinding] {
        findings.enumerated().sorted { left, right in
            (left.element.origin.line ?? .max, left.offset) < (right.element.origin.line ?? .max, right.offset)
        }.map(\.element)
    }
}

/// The names and settings that the program's plugins define, in addition to the keys of the file.
struct Plugins {
    let features: [String]
    let featureSettings: [PluginSetting]
    let backends: [any KeyBackend.Type]
    var profiles: [ServiceProfile] = []

    var schemes: [String] { backends.map { $0.scheme } }

    /// Replaces the words FEATURES, PROFILES and SCHEMES in a text of the table by those of the plugins.
    func completed(_ text: String) -> String {
        text.replacing("FEATURES", with: features.joined(separator: ", "))
            .replacing("PROFILES", with: profiles.map(\.id).joined(separator: ", "))
            .replacing("SCHEMES", with: schemes.map { "\($0):" }.joined(separator: " or "))
    }
}

/// An invalid value. The text continues a sentence after the value's origin, with the remedy.
struct InvalidValue: Error {
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
    }
}

/// Throws the sentence about an invalid value unless the condition holds.
func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(InvalidValue) {
    if !condition { throw InvalidValue(sentence()) }
}
