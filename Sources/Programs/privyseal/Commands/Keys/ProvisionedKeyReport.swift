import Crypto
import KeyLifecycle
import KeyTransport
import Signing
import SigningKit
import StrictJSON

/// The result of an import or a generation.
struct ProvisionedKeyReport {
    let work: ProvisioningProduct<ProvisionedKey>
    /// The URIs of all places, in order.
    let uris: [KeyURI]
    /// The option that names the gateway, for the next command.
    let gatewayOption: String
    /// The first place of this run.
    private let first: ProvisioningProduct<ProvisionedKey>.Place

    /// Nil if this run did no work.
    init?(work: ProvisioningProduct<ProvisionedKey>, _ targets: [ProvisioningTarget], gatewayOption: String) {
        guard let first = work.places.first else { return nil }
        (self.work, uris, self.first) = (work, targets.map(\.uri), first)
        self.gatewayOption = gatewayOption
    }

    private var placed: ProvisionedKey { first.product }
    private var fingerprint: PublicKeyFingerprint { PublicKeyFingerprint(of: placed.publicKey) }

    /// Nil while the gateway has not seen the key at every place.
    var state: KeyLifecycleState? {
        if case .ended(let record) = work.outcome { record.state } else { nil }
    }

    /// Contains the URIs with the locations of the PINs, as the configuration does. It is for the person who gave them.
    var text: String {
        let keyID = work.job.keyID
        let names = work.places.map { "the \($0.location.name)" }.joined(separator: " and ")
        let place =
            if let state { "in \(names) and \(state.rawValue)" } else {
                "in \(names), which the gateway has not seen yet. The import or generation ends by itself "
                    + "when it sees the key; for that, its configuration has to name a key on this token"
            }
        let file = placed.lacksPublicKey ? "\n    publicKeyFile: /etc/privyseal/\(keyID).pem" : ""
        let appendix = placed.lacksPublicKey ? "\nThe public key, for publicKeyFile:\n\(placed.pem)" : ""
        return """
            The key \(keyID) is \(place). \(placed.summary)
            \(work.places.map(details).joined())Next: put it into the configuration, below the account's keys, and reload the gateway.
              - keyId: \(keyID)
                uri: "\(uris[0].text)"\(replicas)
                publicKey: "\(fingerprint)"\(file)
            Then: privyseal keys activate \(keyID) --retire OLD --overlap 24h --reason "…" \(gatewayOption)\(appendix)
            """
    }

    private func details(_ place: ProvisioningProduct<ProvisionedKey>.Place) -> String {
        let title = uris.count > 1 ? "The \(place.location.name):\n" : ""
        let attributes = place.product.attributes.map { "  \($0.name) \($0.value)\n" }.joined()
        return title + attributes + place.product.warnings.map { "warning: \($0)\n" }.joined()
    }

    private var replicas: String {
        guard uris.count > 1 else { return "" }
        return "\n    replicas:" + uris.dropFirst().map { "\n      - \"\($0.text)\"" }.joined()
    }

    func members(isFileDestroyed: Bool? = nil, publicKey: String? = nil, request: String? = nil) -> JSONMembers {
        [
            "outcome": state == nil ? "waiting" : "done",
            "keyId": work.job.keyID,
            "issuerId": work.job.issuerID,
            "state": state,
            "fingerprint": fingerprint,
            "method": placed.method.rawValue,
            "uri": uris[0].text,
            "tokenSerial": first.location.serial,
            "attributes": JSONMembers(placed.attributes.map { ($0.name, $0.value) }),
            "warnings": placed.warnings,
            "fileDestroyed": isFileDestroyed,
            "publicKey": publicKey ?? (placed.lacksPublicKey ? placed.pem : nil),
            "certificationRequest": request,
            "places": uris.count > 1 ? work.places.map(members) : nil,
        ]
    }

    /// The members of a place of this run.
    private func members(of place: ProvisioningProduct<ProvisionedKey>.Place) -> JSONMembers {
        [
            "uri": uris[place.number].text,
            "method": place.product.method.rawValue,
            "tokenSerial": place.location.serial,
            "attributes": JSONMembers(place.product.attributes.map { ($0.name, $0.value) }),
            "warnings": place.product.warnings,
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
        for attribute in attributes { facts[attribute.name] = attribute.value }
        let result = ProvisioningResult(
            isSuccess: true, fingerprint: PublicKeyFingerprint(of: publicKey), evidence: facts)
        guard lacksPublicKey else { return result }
        StandardError.print("The public key, for publicKeyFile:\n\(pem)")
        return result.with(publicKey)
    }
}
