import Crypto
import KeyTransport
import SigningGateway
import SigningKit
import StrictJSON

/// The result of an import or a generation.
struct ProvisionedKeyReport {
    let placed: ProvisionedKey
    let job: ProvisioningJob
    /// Nil while the gateway has not seen the key.
    let record: KeyLifecycleRecord?
    let target: ProvisioningTarget
    let location: ProvisioningLocation

    private var fingerprint: PublicKeyFingerprint { PublicKeyFingerprint(of: placed.publicKey) }

    private var pem: String { PEM.text("PUBLIC KEY", Array(placed.publicKey.derRepresentation)) }

    /// Contains the URI with the location of the PIN, as the configuration does. It is for the person who gave the URI.
    var text: String {
        let attributes = placed.attributes.map { "  \($0.name) \($0.value)" }.joined(separator: "\n")
        let warnings = placed.warnings.map { "warning: \($0)\n" }.joined()
        let state =
            if let record { "in the \(location.name) and \(record.state.rawValue)" } else {
                "in the \(location.name), which the gateway has not seen yet. The import or generation ends by itself "
                    + "when it sees the key; for that, its configuration has to name a key on this token"
            }
        let file = placed.lacksPublicKey ? "\n    publicKeyFile: /etc/privyseal/\(job.keyID).pem" : ""
        let appendix = placed.lacksPublicKey ? "\nThe public key, for publicKeyFile:\n\(pem)" : ""
        return """
            The key \(job.keyID) is \(state). \(placed.summary)
            \(attributes)
            \(warnings)Next: put it into the configuration, below the account's keys, and reload the gateway.
              - keyId: \(job.keyID)
                uri: "\(target.uri.text)"
                publicKey: "\(fingerprint)"\(file)
            Then: privyseal keys activate \(job.keyID) --retire OLD --overlap 24h --reason "…"\(appendix)
            """
    }

    func json(isFileDestroyed: Bool? = nil, publicKey: String? = nil, request: String? = nil) -> String {
        var writer = JSONWriter(capacity: 2048)
        writer.object { writer in
            writer.member("outcome", record == nil ? "waiting" : "done")
            writer.member("keyId", job.keyID)
            writer.member("issuerId", job.issuerID)
            if let record { writer.member("state", record.state.rawValue) }
            writer.member("fingerprint", fingerprint.description)
            writer.member("method", placed.method.rawValue)
            writer.member("uri", target.uri.text)
            writer.member("tokenSerial", location.serial)
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
            if let publicKey = publicKey ?? (placed.lacksPublicKey ? pem : nil) {
                writer.member("publicKey", publicKey)
            }
            if let request { writer.member("certificationRequest", request) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
