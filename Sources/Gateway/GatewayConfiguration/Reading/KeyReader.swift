import SigningKit

/// Reads keys, and detects IDs and addresses that an earlier key already has.
struct KeyReader {
    typealias Key = GatewayConfiguration.Key

    private let findings: Findings
    private var keyIDs = UniqueValues<String>()
    private var addresses: [KeyAddress: ConfigurationOrigin] = [:]

    init(_ findings: Findings) {
        self.findings = findings
    }

    /// The key if valid, and its ID if readable: the check of `activeKey` needs the IDs of invalid keys, too.
    mutating func read(_ node: SettingNode) -> (keyID: String?, key: Key?) {
        guard var mapping = MappingReader(node, Key.Settings.settings, findings) else { return (nil, nil) }
        var settings = Key.Settings()
        mapping.read(Key.Settings.settings, into: &settings)
        let given = mapping.given
        let keyID = given.faulty.contains("keyId") ? nil : settings.keyID
        if let keyID, let origin = given.origin(of: "keyId") { noteID(keyID, origin) }
        compareFingerprint(settings, given)
        let schemes = findings.plugins.schemes.map { "\($0):" }.joined(separator: " or ")
        let location = mapping.required("uri", "the location of the key: a URI with the scheme \(schemes)")
            .flatMap { KeyURIReader(findings: findings).read($0) }
        guard let location else { return (keyID, nil) }
        noteAddress(location)
        return (keyID, keyID.map { _ in Key(location, settings, origin: node.origin) })
    }

    private mutating func noteID(_ keyID: String, _ origin: ConfigurationOrigin) {
        guard keyIDs.note(keyID, "the key ID \(Excerpt.quoted(keyID))", at: origin, findings) else { return }
        if !IdentifierShape.isKeyID(keyID) {
            let shape = "is not ten upper-case letters and digits, but key IDs in App Store Connect are; check it"
            findings.warn(shape, at: origin)
        }
    }

    /// Warns about a key with two IDs. Apple gives each key one ID, and refuses signatures that name another.
    private mutating func noteAddress(_ location: GatewayConfiguration.KeyLocation) {
        if let first = addresses[location.address] {
            findings.warn(
                "is also the location of another key (\(first)); each key has one key ID", at: location.origin)
        }
        addresses[location.address] = addresses[location.address] ?? location.origin
    }

    private func compareFingerprint(_ settings: Key.Settings, _ given: GivenSettings) {
        guard let fingerprint = settings.fingerprint, let publicKey = settings.publicKey else { return }
        let found = PublicKeyFingerprint(of: publicKey)
        guard fingerprint != found else { return }
        findings.fault(
            .notAllowed(
                "is not the fingerprint of the key in publicKeyFile, which is \(found); correct or remove one of them"),
            at: given.origin(of: "publicKey") ?? given.origin)
    }
}
