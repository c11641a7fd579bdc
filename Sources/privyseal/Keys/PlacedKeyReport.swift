import SigningGateway
import SigningKit
import StrictJSON

/// What there is to say of a key that came into its token.
struct PlacedKeyReport {
    let placed: PlacedKey
    let record: KeyLifeRecord
    let place: KeyPlace
    let token: KeyBackendReport.Token

    private var fingerprint: PublicKeyFingerprint { PublicKeyFingerprint(of: placed.publicKey) }

    private var how: String {
        switch placed.method {
        case .unwrapped: "It went in by C_UnwrapKey under an AES key that the token made and that is gone."
        case .unwrappedPackage: "It was unwrapped in the token; it never was in the clear on this machine."
        case .created: "It went in by C_CreateObject, in the clear, because the token cannot unwrap."
        case .generated: "The token made it."
        case .found: "It was there from a run that had not ended."
        }
    }

    /// The URI leads to the PIN's place, as the configuration does: it is for the one who gave it.
    var text: String {
        let attributes = placed.attributes.map { "  \($0.name) \($0.value)" }.joined(separator: "\n")
        let warnings = placed.warnings.map { "warning: \($0)\n" }.joined()
        return """
            The key \(record.keyID) is in the token "\(token.label)" and \(record.state.rawValue). \(how)
            \(attributes)
            \(warnings)Next: put it into the configuration, below the account's keys, and reload the gateway.
              - keyId: \(record.keyID)
                uri: "\(place.uri.text)"
                publicKey: "\(fingerprint)"
            Then: privyseal keys activate \(record.keyID) --retire OLD --overlap 24h --reason "…"
            """
    }

    func json(isFileDestroyed: Bool? = nil, publicKey: String? = nil, request: String? = nil) -> String {
        var writer = JSONWriter(capacity: 2048)
        writer.object { writer in
            writer.member("outcome", "done")
            writer.member("keyId", record.keyID)
            writer.member("issuerId", record.issuerID)
            writer.member("state", record.state.rawValue)
            writer.member("fingerprint", fingerprint.description)
            writer.member("method", placed.method.rawValue)
            writer.member("uri", place.uri.text)
            writer.member("tokenSerial", token.serial)
            writer.name("attributes")
            writer.object { writer in
                for (name, value) in placed.attributes {
                    writer.name(escaping: name)
                    writer.string(value)
                }
            }
            writer.name("warnings")
            writer.array { writer in for warning in placed.warnings { writer.string(warning) } }
            if let isFileDestroyed { writer.member("fileDestroyed", isFileDestroyed) }
            if let publicKey { writer.member("publicKey", publicKey) }
            if let request { writer.member("certificationRequest", request) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
