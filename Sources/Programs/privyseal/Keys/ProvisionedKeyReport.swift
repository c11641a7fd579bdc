import Crypto
import KeyLifecycle
import KeyTransport
import Signing
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

    func members(isFileDestroyed: Bool? = nil, publicKey: String? = nil, request: String? = nil) -> JSONMembers {
        [
            "outcome": record == nil ? "waiting" : "done",
            "keyId": job.keyID,
            "issuerId": job.issuerID,
            "state": record?.state,
            "fingerprint": fingerprint,
            "method": placed.method.rawValue,
            "uri": target.uri.text,
            "tokenSerial": location.serial,
            "attributes": JSONMembers(placed.attributes.map { ($0.name, $0.value) }),
            "warnings": placed.warnings,
            "fileDestroyed": isFileDestroyed,
            "publicKey": publicKey ?? (placed.lacksPublicKey ? pem : nil),
            "certificationRequest": request,
        ]
    }
}
