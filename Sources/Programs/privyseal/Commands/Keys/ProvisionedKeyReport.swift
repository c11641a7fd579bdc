import Crypto
import KeyLifecycle
import KeyTransport
import Signing
import SigningKit
import StrictJSON

/// The result of an import or a generation.
struct ProvisionedKeyReport {
    let work: ProvisioningProduct<ProvisionedKey>
    let uri: KeyURI

    private var placed: ProvisionedKey { work.product }
    private var fingerprint: PublicKeyFingerprint { PublicKeyFingerprint(of: placed.publicKey) }

    /// Nil while the gateway has not seen the key.
    private var state: KeyLifecycleState? {
        if case .ended(let record) = work.outcome { record.state } else { nil }
    }

    /// Contains the URI with the location of the PIN, as the configuration does. It is for the person who gave the URI.
    var text: String {
        let keyID = work.job.keyID
        let attributes = placed.attributes.map { "  \($0.name) \($0.value)" }.joined(separator: "\n")
        let warnings = placed.warnings.map { "warning: \($0)\n" }.joined()
        let place =
            if let state { "in the \(work.location.name) and \(state.rawValue)" } else {
                "in the \(work.location.name), which the gateway has not seen yet. The import or generation ends by itself "
                    + "when it sees the key; for that, its configuration has to name a key on this token"
            }
        let file = placed.lacksPublicKey ? "\n    publicKeyFile: /etc/privyseal/\(keyID).pem" : ""
        let appendix = placed.lacksPublicKey ? "\nThe public key, for publicKeyFile:\n\(placed.pem)" : ""
        return """
            The key \(keyID) is \(place). \(placed.summary)
            \(attributes)
            \(warnings)Next: put it into the configuration, below the account's keys, and reload the gateway.
              - keyId: \(keyID)
                uri: "\(uri.text)"
                publicKey: "\(fingerprint)"\(file)
            Then: privyseal keys activate \(keyID) --retire OLD --overlap 24h --reason "…"\(appendix)
            """
    }

    func members(isFileDestroyed: Bool? = nil, publicKey: String? = nil, request: String? = nil) -> JSONMembers {
        [
            "outcome": state == nil ? "waiting" : "done",
            "keyId": work.job.keyID,
            "issuerId": work.job.issuerID,
            "state": state,
            "fingerprint": fingerprint,
            "method": placed.method.rawValue,
            "uri": uri.text,
            "tokenSerial": work.location.serial,
            "attributes": JSONMembers(placed.attributes.map { ($0.name, $0.value) }),
            "warnings": placed.warnings,
            "fileDestroyed": isFileDestroyed,
            "publicKey": publicKey ?? (placed.lacksPublicKey ? placed.pem : nil),
            "certificationRequest": request,
        ]
    }
}

extension ProvisionedKey {
    var pem: String { PEM.text("PUBLIC KEY", Array(publicKey.derRepresentation)) }

    /// For the register. If the token does not hold the public key, prints that first: without it the private key is
    /// useless, and the register may refuse.
    func reported(in location: ProvisioningLocation) -> ProvisioningResult {
        var facts = location.evidence.merging(evidence) { _, own in own }
        facts["method"] = method.rawValue
        facts["proof"] = "signed"
        for (name, value) in attributes { facts[name] = value }
        let result = ProvisioningResult(
            isSuccess: true, fingerprint: PublicKeyFingerprint(of: publicKey), evidence: facts)
        guard lacksPublicKey else { return result }
        StandardError.print("The public key, for publicKeyFile:\n\(pem)")
        return result.with(publicKey)
    }
}
