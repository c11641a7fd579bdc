import Crypto
import SigningKit

/// Reads keys, and detects IDs and addresses that an earlier key already has.
struct KeyReader {
    /// The allowed values of `cryptoperiod`, in days. NIST SP 800-57 part 1 rev. 5 §5.3.6 gives a private signature key
    /// one to three years.
    private static let cryptoperiods = 1...1095
    private static let standardCryptoperiod = 730
    private static let members = ["keyId", "uri", "publicKey", "publicKeyFile", "cryptoperiod", "provenance"]

    private let vocabulary: PluginNames
    private let findings: Findings
    private var keyIDs: [String: ConfigurationOrigin] = [:]
    private var addresses: [KeyAddress: ConfigurationOrigin] = [:]

    init(_ vocabulary: PluginNames, _ findings: Findings) {
        self.vocabulary = vocabulary
        self.findings = findings
    }

    /// The key if valid, and its ID if readable: the check of `activeKey` needs the IDs of invalid keys, too.
    mutating func read(_ node: SettingNode) -> (keyID: String?, key: GatewayConfiguration.Key?) {
        guard let mapping = MappingReader(node, keys: Self.members, findings) else { return (nil, nil) }
        let keyID = keyID(in: mapping)
        let fingerprint = mapping.optional("publicKey").flatMap { self.fingerprint($0) }
        let publicKey = mapping.optional("publicKeyFile").flatMap { self.publicKey($0) }
        compare(fingerprint, publicKey, mapping.optional("publicKey")?.origin ?? node.origin)
        let cryptoperiod =
            mapping.optional("cryptoperiod").map { $0.wholeNumber(in: Self.cryptoperiods, findings) }
            ?? Self.standardCryptoperiod
        let provenance = mapping.optional("provenance").flatMap {
            $0.choice(GatewayConfiguration.Key.Provenance.self, findings)
        }
        let uri = mapping.required("uri", "the location of the key: a URI with the scheme \(schemes)")
            .flatMap { KeyURIReader(vocabulary, findings).read($0) }
        guard let uri else { return (keyID, nil) }
        noteAddress(uri.address, mapping.optional("uri")?.origin ?? node.origin)
        var address = uri.address
        if let publicKey {
            let selector = KeySelector(address.selector.uri, publicKey: Array(publicKey.x963Representation))
            address = KeyAddress(locator: address.locator, selector: selector)
        }
        let key = keyID.map { keyID in
            GatewayConfiguration.Key(
                keyID: keyID, uri: uri.uri, address: address, fingerprint: fingerprint, publicKey: publicKey,
                cryptoperiod: cryptoperiod ?? Self.standardCryptoperiod, provenance: provenance, origin: node.origin)
        }
        return (keyID, key)
    }

    private var schemes: String { vocabulary.schemes.map { "\($0):" }.joined(separator: " or ") }

    private mutating func keyID(in mapping: MappingReader) -> String? {
        guard let node = mapping.required("keyId", "the key's ID in App Store Connect, such as 2X9R4HXF34"),
            let keyID = node.assignedIdentifier(findings)
        else { return nil }
        if let first = keyIDs[keyID] {
            findings.fault(.alreadyTaken(what: "the key ID \(Excerpt.quoted(keyID))", first: first), at: node.origin)
            return keyID
        }
        keyIDs[keyID] = node.origin
        if !IdentifierShape.isKeyID(keyID) {
            let shape = "is not ten upper-case letters and digits, but key IDs in App Store Connect are; check it"
            findings.warn(shape, at: node.origin)
        }
        return keyID
    }

    /// Warns about a key with two IDs. Apple gives each key one ID, and refuses signatures that name another.
    private mutating func noteAddress(_ address: KeyAddress, _ origin: ConfigurationOrigin) {
        if let first = addresses[address] {
            findings.warn("is also the location of another key (\(first)); each key has one key ID", at: origin)
        }
        addresses[address] = addresses[address] ?? origin
    }

    private func fingerprint(_ node: SettingNode) -> PublicKeyFingerprint? {
        node.parsed(findings) { text throws(InvalidValue) in
            guard let fingerprint = PublicKeyFingerprint(text) else {
                throw InvalidValue(
                    "is not a fingerprint; it must be sha256: and the 64 hexadecimal digits of the SHA-256 of the public "
                        + "key in DER, which privyseal keys list shows")
            }
            return fingerprint
        }
    }

    private func publicKey(_ node: SettingNode) -> P256.Signing.PublicKey? {
        node.parsed(findings) { path throws(InvalidValue) in
            guard path.hasPrefix("/") else {
                throw InvalidValue("must be an absolute path, such as /etc/privyseal/2X9R4HXF34.pub.pem")
            }
            return try PublicKeyFile.read(path)
        }
    }

    private func compare(
        _ fingerprint: PublicKeyFingerprint?, _ publicKey: P256.Signing.PublicKey?, _ origin: ConfigurationOrigin
    ) {
        guard let fingerprint, let publicKey else { return }
        let found = PublicKeyFingerprint(of: publicKey)
        guard fingerprint != found else { return }
        findings.fault(
            .notAllowed(
                "is not the fingerprint of the key in publicKeyFile, which is \(found); correct or remove one of them"),
            at: origin)
    }
}
