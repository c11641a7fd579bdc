import ArgumentParser
import Crypto
import GatewayConfiguration
import KeyLifecycle
import KeyTransport
import Signing
import SigningKit
import StrictJSON

/// What `import`, `generate` and `destroy` share: options, and the course of the work on a token.
struct ProvisioningOption: ParsableArguments {
    @Option(help: ArgumentHelp("The account's issuer ID; not needed if there is one account.", valueName: "id"))
    var issuer: String?

    @OptionGroup var admin: AdminOption
    @OptionGroup var user: TokenUserOption
    @OptionGroup var consent: KeyConsentOption
    @OptionGroup var output: OutputOption

    /// `--issuer`, or the only account.
    func issuerID(_ configuration: GatewayConfiguration?, _ client: any KeyLifecycleClient) async throws -> String {
        if let issuer { return issuer }
        let all =
            if let configuration { configuration.accounts.map(\.issuerID) } else {
                try await client.overview().accounts.map(\.issuerID)
            }
        guard all.count == 1 else {
            throw StandardError.failure(
                "There are \(all.count) accounts; name one with --issuer: \(all.joined(separator: ", ")).", status: 64)
        }
        return all[0]
    }

    /// Opens a session, asks for consent, and does the work between two messages to the register.
    ///
    /// - Parameters:
    ///   - intention: the sentence to consent to.
    ///   - work: gets the session, and whether the job began in an earlier run and did not end.
    /// - Returns: nil if the job is only proposed.
    func perform<Product>(
        _ order: ProvisioningOrder, _ client: any KeyLifecycleClient, _ target: ProvisioningTarget,
        intention: (ProvisioningLocation) -> String,
        work: (any ProvisioningSession, _ isResumed: Bool) async throws -> (Product, ProvisioningResult)
    ) async throws -> ProvisioningProduct<Product>? {
        try await target.withSession { session in
            try consent.require(intention(session.location))
            guard let (job, isResumed) = try await begin(order, client) else { return nil }
            let product: Product
            let result: ProvisioningResult
            do { (product, result) = try await work(session, isResumed) } catch {
                let failure = ProvisioningResult(
                    isSuccess: false, fingerprint: job.fingerprint, evidence: ["failure": "\(error)"])
                _ = try? await client.finish(job.id, failure.shortened())
                throw error
            }
            do {
                let outcome = try await client.finish(job.id, result.shortened())
                return ProvisioningProduct(product: product, job: job, outcome: outcome, location: session.location)
            } catch {
                throw CommandError(
                    "The work on the token is done, but the register could not be updated: \(error) Run the same command "
                        + "again; it finds the finished work.")
            }
        }
    }

    private func begin(
        _ order: ProvisioningOrder, _ client: any KeyLifecycleClient
    ) async throws -> (ProvisioningJob, isResumed: Bool)? {
        let open = try await client.overview().jobs.first {
            $0.keyID == order.keyID && $0.issuerID == order.issuerID && $0.action == order.action
        }
        if let open {
            StandardError.print(
                "An earlier run began at \(open.begun.text) and did not end; this run continues it.")
        }
        let answer = try await client.begin(order)
        if case .begun(let job) = answer { return (job, open != nil) }
        output.show(answer, text: KeyAnswerText(gatewayOption: admin.gatewayOption).text(answer))
        return nil
    }
}

/// What a provisioning job has made or found.
struct ProvisioningProduct<Product> {
    let product: Product
    let job: ProvisioningJob
    let outcome: KeyLifecycleAnswer
    let location: ProvisioningLocation
}

/// The backend in which keys are created and destroyed, named by a key's URI.
struct ProvisioningTarget {
    let uri: KeyURI
    let selector: KeySelector
    private let locator: KeyLocator
    private let backend: any KeyProvisioning.Type
    private let environment: KeyBackendEnvironment

    /// - Parameters:
    ///   - keyID: the key's name if the URI has none.
    ///   - configuration: of the gateway, if the command has one.
    init(
        _ text: String, keyID: String? = nil, as user: TokenUserOption, _ configuration: GatewayConfiguration? = nil
    ) throws {
        var uri = try KeyURI(text)
        guard let backend = BuiltIns.keyBackends.first(where: { $0.scheme == uri.scheme }) as? any KeyProvisioning.Type
        else {
            let schemes = BuiltIns.keyBackends.filter { $0 is any KeyProvisioning.Type }.map { "\($0.scheme):" }
            throw KeyError.invalidURI(
                "it names no place on a token; keys are brought into \(schemes.joined(separator: ", ")) places only")
        }
        if let keyID { uri = try backend.uri(uri, naming: keyID) }
        let address = try backend.address(of: uri)
        var settings = configuration?.backends[backend.scheme] ?? PluginSettings(defaultsOf: backend.settings)
        if let userType = user.userType { try settings.set("userType", to: .integer(userType)) }
        self.uri = uri
        self.backend = backend
        (locator, selector) = (address.locator, address.selector)
        environment = KeyBackendEnvironment(settings: settings, secrets: FileSecretSource())
    }

    func withSession<Answer>(_ body: (any ProvisioningSession) async throws -> Answer) async throws -> Answer {
        let session = try await backend.provisioningSession(at: locator, in: environment)
        return try await finally(session.close) { try await body(session) }
    }

    /// Opens the key as the gateway does.
    func withKey<Answer>(_ body: (any SigningKey) async throws -> Answer) async throws -> Answer {
        let opened: any KeyBackend = try await backend.open(locator, in: environment)
        return try await finally(opened.close) { try await body(try await opened.key(selector)) }
    }
}

/// The user that logs in to the token for a key command.
struct TokenUserOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The user that logs in (CK_USER_TYPE), in place of the configuration's backends.pkcs11.userType; 1 is CKU_USER.",
            valueName: "number"))
    var userType: Int?
}

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
