public import AuditLog
public import SigningKit

/// Processes a request, from its names and bytes to the signed answer. No step calls an earlier one.
public struct Dispatcher: Sendable {
    public let features: [FeatureDescriptor]
    private let apps: [ExactText: ServedApp]
    /// By name.
    private let services: [ExactText: ServedService]
    let tokens: ServiceTokenCache
    /// The IDs of the features that a rule must name.
    private let grantedByName: Set<ExactText>
    let grants: GrantIssuer
    private let now: @Sendable () -> RateLimitTime
    /// Released with the snapshot and with the last request of the snapshot.
    let snapshotLease = SnapshotLease()
    /// Nil for a gateway without an audit log.
    public let audit: AuditLog?
    /// Nil for a gateway that belongs to no fleet.
    let shared: (any SharedValues)?

    /// - Parameters:
    ///   - features: all features. The settings of each app name those that it has.
    ///   - now: the time for rates and quotas.
    public init(
        _ settings: GatewaySettings, features: [ServedFeature], profiles: [ServiceProfile] = [], ring: KeyRing,
        grants: GrantIssuer = GrantIssuer(), tokens: ServiceTokenCache = ServiceTokenCache(),
        audit: SigningAudit? = nil, now: @escaping @Sendable () -> RateLimitTime = RateLimitTime.now
    ) {
        self.features = features.map(\.descriptor)
        grantedByName = Set(self.features.filter(\.isGrantedByName).map { ExactText($0.id) })
        self.grants = grants
        self.now = now
        self.audit = audit?.log
        shared = audit?.shared
        self.tokens = tokens
        var apps: [ExactText: ServedApp] = [:]
        var services: [ExactText: ServedService] = [:]
        for account in settings.accounts {
            let keys = ring.handles.filter { $0.issuerID == account.issuerID }
            for app in account.apps {
                apps[ExactText(app.bundleID)] = ServedApp(
                    app, of: account, features: features, keys: keys, life: audit?.keyStates.account(account.issuerID))
            }
            for service in account.services {
                guard let profile = profiles.first(where: { $0.id == service.profile }) else { continue }
                services[ExactText(service.name)] = ServedService(
                    service, profile, of: account, keys: keys, life: audit?.keyStates.account(account.issuerID))
            }
        }
        self.apps = apps
        self.services = services
    }

    // MARK: Authorization

    /// Gives leased requests back that were not used. Call it every second.
    ///
    /// - Parameter isLast: whether this gateway admits no more requests.
    public func giveBackRequests(of clients: [Client], isLast: Bool = false) async {
        guard let shared else { return }
        for client in clients where !client.limits.isUnlimited {
            await client.usage.giveBack(everything: isLast, within: client.limits, to: shared, now: now)
        }
    }

    /// `admit` with the limits that a fleet shares; the same as `admit` without a fleet.
    ///
    /// - Throws: also `.unrecorded` if the shared limits cannot be read.
    @discardableResult
    public func admitShared(
        _ client: Client, count: Int = 1, taken: Int = 0, feature: String
    ) async throws(GatewayError) -> RateLimitStatus? {
        guard let shared, !client.limits.isUnlimited else {
            return try admit(client, count: count, taken: taken, feature: feature)
        }
        // While the database does not answer, no request waits for it here.
        do throws(GatewayError) { try requireWritableLog(for: count) } catch { throw note(error, client, feature) }
        do throws(LeaseError) {
            return try await client.usage.takeShared(
                count, giving: taken, within: client.limits, from: shared, now: now)
        } catch {
            switch error {
            case .limited(let refusal): throw note(.limited(refusal), client, feature)
            case .unavailable:
                let sentence = "The limits of the client, which the fleet shares, cannot be read."
                throw note(.unrecorded(.unavailable(sentence)), client, feature)
            }
        }
    }

    /// Takes requests from the client's rate and quota: all of a batch, or none.
    ///
    /// - Parameters:
    ///   - count: the number of requests in a batch.
    ///   - taken: the requests of `count` that were taken before. A refusal returns them.
    ///   - feature: the ID from the path, only for the metrics of refusals.
    /// - Returns: the limit with fewer remaining requests; nil for a client without limits.
    /// - Throws: `GatewayError.limited`.
    @discardableResult
    public func admit(
        _ client: Client, count: Int = 1, taken: Int = 0, feature: String
    ) throws(GatewayError) -> RateLimitStatus? {
        do throws(RateLimitRefusal) {
            if client.limits.isUnlimited { return nil }
            return try client.usage.take(count, giving: taken, within: client.limits, at: now())
        } catch {
            throw note(.limited(error), client, feature)
        }
    }

    /// Takes one request that was refused for another reason from the client's rate and quota.
    ///
    /// - Returns: whether the limits allowed it.
    public func charge(_ client: Client) async -> Bool {
        if client.limits.isUnlimited { return true }
        guard let shared else { return (try? client.usage.take(1, within: client.limits, at: now())) != nil }
        do throws(LeaseError) {
            _ = try await client.usage.takeShared(1, giving: 0, within: client.limits, from: shared, now: now)
            return true
        } catch {
            return false
        }
    }

    /// Authorises the names of a request before it resolves them: the client must not learn which apps exist.
    ///
    /// - Parameters:
    ///   - keyID: nil for the account's active key.
    ///   - request: for audit entries.
    /// - Throws: `GatewayError.forbidden` for names that no rule allows; `.unknownApp`, `.unknownFeature` or
    ///   `.unknownKey` for allowed names that are not configured.
    public func resolve(
        for client: Client, app bundleID: String, feature name: String, keyID: String? = nil,
        request: RequestIdentity = RequestIdentity(id: "-")
    ) throws(GatewayError) -> ResolvedRequest {
        do throws(GatewayError) {
            let matchingRules: MatchingRules
            do throws(Denial) {
                matchingRules = try self.matchingRules(client, app: bundleID, feature: name, keyID: keyID)
            } catch {
                throw .forbidden(error)
            }
            guard let app = apps[ExactText(bundleID)] else { throw .unknownApp(bundleID) }
            guard let feature = app.features[ExactText(name)] else { throw .unknownFeature(name, app: bundleID) }
            guard let key = app.key(keyID) else { throw .unknownKey(keyID ?? "", app: bundleID) }
            return ResolvedRequest(
                key, activeKeyOf: keyID == nil && app.life != nil ? app : nil, client: client, feature: feature,
                matchingRules: matchingRules, identity: request, snapshotLease: snapshotLease,
                counters: client.counters(of: feature.descriptor.id))
        } catch {
            throw note(error, client, name)
        }
    }

    /// Authorises the name of a service before it resolves it.
    ///
    /// - Throws: `GatewayError.forbidden` for a name that no rule allows; `.unknownService` for an allowed one that is not
    ///   configured.
    public func resolve(
        for client: Client, service name: String, request: RequestIdentity = RequestIdentity(id: "-")
    ) throws(GatewayError) -> ResolvedRequest {
        do throws(GatewayError) {
            let matchingRules: MatchingRules
            do throws(Denial) { matchingRules = try client.policy.matchingRules(service: name) } catch {
                throw .forbidden(error)
            }
            guard let service = services[ExactText(name)] else { throw .unknownService(name) }
            guard let key = service.app.key(nil) else { throw .noKeyInUse(app: service.app.bundleID) }
            return ResolvedRequest(
                key, activeKeyOf: service.app.life != nil ? service.app : nil, service: service, client: client,
                feature: service.feature, matchingRules: matchingRules, identity: request,
                snapshotLease: snapshotLease, counters: client.counters(of: service.profile.id))
        } catch {
            throw note(error, client, services[ExactText(name)]?.profile.id ?? RequestCounters.unknownFeature)
        }
    }

    /// The path and the profile of a configured service, for audit entries.
    public func known(service name: String) -> (path: String, profile: String)? {
        services[ExactText(name)].map { ($0.app.bundleID, $0.profile.id) }
    }

    /// The configured names of a request that was not resolved. Use them in its audit entry only, never in an answer.
    public func known(
        app bundleID: String, feature name: String, keyID: String?
    ) -> (app: String?, feature: String?, keyID: String?) {
        guard let app = apps[ExactText(bundleID)] else { return (nil, nil, nil) }
        let feature = features.first { $0.id.hasSameBytes(as: name) }?.id
        return (app.bundleID, feature, keyID.flatMap { app.key($0) }?.identity.keyID)
    }

    private func matchingRules(
        _ client: Client, app: String, feature: String, keyID: String?
    ) throws(Denial) -> MatchingRules {
        try client.policy.matchingRules(
            app: app, feature: feature, byName: grantedByName.contains(ExactText(feature)), keyID: keyID)
    }

    /// The issuer ID of an app's account; nil for an app that is not configured.
    public func issuerID(ofApp bundleID: String) -> String? { apps[ExactText(bundleID)]?.issuerID }

    /// The origin of the rule that allows a client's request, or why it is denied. It does not check that the names
    /// exist.
    public func explain(
        client: Client, app: String, feature: String, keyID: String? = nil, product: String? = nil, offer: String? = nil
    ) -> Result<String, Denial> {
        let subject = OfferSubject(products: [product].compactMap(\.self), offers: [offer].compactMap(\.self))
        do throws(Denial) {
            let matchingRules = try matchingRules(client, app: app, feature: feature, keyID: keyID)
            return .success(try matchingRules.rule(for: subject))
        } catch {
            return .failure(error)
        }
    }

    /// The same for a token of a service.
    ///
    /// - Parameter choices: of the request: scopes, origins, subject and lifetime.
    public func explain(client: Client, service: String, choosing choices: OfferSubject) -> Result<String, Denial> {
        do throws(Denial) {
            let rules = try client.policy.matchingRules(service: service)
            return .success(try rules.rule(for: services[ExactText(service)]?.subject(choosing: choices) ?? choices))
        } catch {
            return .failure(error)
        }
    }

    private func note(_ error: GatewayError, _ client: Client, _ feature: String) -> GatewayError {
        let known =
            features.first { $0.id == feature }?.id ?? services.values.first { $0.profile.id == feature }?.profile.id
        client.counters(of: known ?? RequestCounters.unknownFeature).note(error)
        return error
    }
}

/// The source of times and nonces: the gateway's clock and the kernel's random numbers, never a caller.
public struct GrantIssuer: Sendable {
    let now: @Sendable () -> Timestamp
    private let nonce: @Sendable () -> Nonce

    /// Uses the system clock, and nonces from the kernel.
    public init() {
        self.init(now: Timestamp.now) {
            Nonce(random: .random(in: .min ... .max), .random(in: .min ... .max))
        }
    }

    /// - Parameter nonce: returns a new nonce for each call.
    public init(now: @escaping @Sendable () -> Timestamp, nonce: @escaping @Sendable () -> Nonce) {
        self.now = now
        self.nonce = nonce
    }

    public func issue(for app: AppIdentity) -> Grant { Grant(app: app, issuedAt: now(), nonce: nonce()) }
}
