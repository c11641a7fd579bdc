import SigningKit

/// The profiles in AWS's shared files, `config` and `credentials` (AWS SDKs and Tools Reference Guide, "Shared config
/// and credentials files").
struct SharedConfiguration: Sendable {
    /// Settings by name in lower case.
    typealias Profile = [String: String]

    let configPath: String
    let credentialsPath: String
    private let config: [String: Profile]
    private let credentials: [String: Profile]

    /// Reads both files. A missing file is empty.
    init(_ variables: EnvironmentVariables) async throws(KeyError) {
        configPath = Self.path(variables["AWS_CONFIG_FILE"], or: "config", variables)
        credentialsPath = Self.path(variables["AWS_SHARED_CREDENTIALS_FILE"], or: "credentials", variables)
        config = try SharedFile.profiles(
            try await CredentialFile.text(configPath, "AWS configuration file") ?? "", in: configPath, isConfig: true)
        credentials = try SharedFile.profiles(
            try await CredentialFile.text(credentialsPath, "AWS credentials file") ?? "", in: credentialsPath,
            isConfig: false)
    }

    private static func path(_ path: String?, or name: String, _ variables: EnvironmentVariables) -> String {
        let home = variables["HOME"] ?? "/"
        guard let path else { return "\(home)/.aws/\(name)" }
        return path.hasPrefix("~/") ? home + path.dropFirst() : path
    }

    /// The settings of a profile from both files; nil if neither has it. Those of the credentials file count first.
    func profile(_ name: String) -> Profile? {
        guard config[name] != nil || credentials[name] != nil else { return nil }
        return (config[name] ?? [:]).merging(credentials[name] ?? [:]) { _, own in own }
    }

    /// The settings of a profile in the credentials file only.
    func credentialsProfile(_ name: String) -> Profile? { credentials[name] }

    func configProfile(_ name: String) -> Profile? { config[name] }
}

/// The form of AWS's shared files: sections in brackets, and `name = value`. Indented lines belong to the setting above
/// and are not used here.
enum SharedFile {
    /// - Parameter isConfig: whether a section is called `profile NAME`, except for `default`.
    static func profiles(
        _ text: String, in path: String, isConfig: Bool
    ) throws(KeyError) -> [String: SharedConfiguration.Profile] {
        var profiles: [String: SharedConfiguration.Profile] = [:]
        var section: String?
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            func fault(_ what: String) -> KeyError {
                .unavailable("Line \(number + 1) of \(path) \(what).")
            }
            guard let first = line.first, first != "#", first != ";", !first.isWhitespace else { continue }
            if first == "[" {
                guard let end = line.firstIndex(of: "]") else {
                    throw fault("has no ] at the end of its section's name")
                }
                section = name(line[line.index(after: line.startIndex)..<end], isConfig)
                if let section, profiles[section] != nil { throw fault("repeats the section \(section)") }
                if let section { profiles[section] = [:] }
                continue
            }
            guard let separator = line.firstIndex(where: { $0 == "=" || $0 == ":" }) else {
                throw fault("is neither a section nor name = value")
            }
            guard let section else { continue }
            let key = trimmed(line[..<separator]).lowercased()
            guard profiles[section]?[key] == nil else { throw fault("repeats \(key)") }
            profiles[section]?[key] = trimmed(line[line.index(after: separator)...])
        }
        return profiles
    }

    /// Nil for a section that is no profile.
    private static func name(_ section: Substring, _ isConfig: Bool) -> String? {
        let words = trimmed(section)
        guard isConfig, words != "default" else { return words }
        guard words.hasPrefix("profile"), let separator = words.firstIndex(where: \.isWhitespace),
            words[..<separator] == "profile"
        else { return nil }
        let name = trimmed(words[separator...])
        let isQuoted = name.count >= 2 && (name.first == "\"" || name.first == "'") && name.first == name.last
        return isQuoted ? String(name.dropFirst().dropLast()) : name
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = text[...]
        while let first = text.first, first.isWhitespace { text = text.dropFirst() }
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }
}
