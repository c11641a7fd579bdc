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
    let token: KeyBackendReport.Token

    private var fingerprint: PublicKeyFingerprint { PublicKeyFingerprint(of: placed.publicKey) }

    private var pem: String { PEM.text("PUBLIC KEY", Array(placed.publicKey.derRepresentation)) }

    private var how: String {
        switch placed.method {
        case .unwrapped: "It was imported by C_UnwrapKey under a temporary key, which the token made and deleted."
        case .unwrappedPackage: "It was unwrapped in the token; it was never in the clear on this machine."
        case .created: "It was imported by C_CreateObject, in the clear, as you allowed: the token cannot unwrap."
        case .generated: "The token made it."
        case .found: "It was there from an interrupted run."
        }
    }

    /// Contains the URI with the location of the PIN, as the configuration does. It is for the person who gave the URI.
    var text: String {
        let attributes = placed.attributes.map { "  \($0.name) \($0.value)" }.joined(separator: "\n")
        let warnings = placed.warnings.map { "warning: \($0)\n" }.joined()
        let state =
            if let record { "in the token \"\(token.label)\" and \(record.state.rawValue)" } else {
                "in the token \"\(token.label)\", which the gateway has not seen yet. The import or generation ends by itself "
                    + "when it sees the key; for that, its configuration has to name a key on this token"
            }
        let file = placed.lacksPublicKey ? "\n    publicKeyFile: /etc/privyseal/\(job.keyID).pem" : ""
        let appendix = placed.lacksPublicKey ? "\nThe public key, for publicKeyFile:\n\(pem)" : ""
        return """
            The key \(job.keyID) is \(state). \(how)
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
            "tokenSerial": token.serial,
            "attributes": JSONMembers(placed.attributes.map { ($0.name, $0.value) }),
            "warnings": placed.warnings,
            "fileDestroyed": isFileDestroyed,
            "publicKey": publicKey ?? (placed.lacksPublicKey ? pem : nil),
            "certificationRequest": request,
        ]
    }
}
