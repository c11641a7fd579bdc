import Crypto
public import SigningKit
public import StrictJSON
import Tracing

/// The straight line from names and bytes to a sealed answer. No stage calls an earlier one.
public struct Dispatcher: Sendable {
    public let features: [FeatureDescriptor]
    private let apps: [ExactText: ServedApp]
    private let grants: GrantIssuer
    private let now: @Sendable () -> LimitMoment
    private let lease: Lease
    /// Nil for a gateway that keeps no record.
    public let audit: AuditLog?

    /// - Parameters:
    ///   - features: those that may be served; each app's plan says which of them it has.
    ///   - audit: where everything is recorded; nil for a gateway that keeps no record.
    ///   - now: the time for rates and quotas.
    public init(
        _ plan: GatewayPlan, features: [ServedFeature], ring: KeyRing, grants: GrantIssuer = GrantIssuer(),
        audit: AuditLog? = nil, now: @escaping @Sendable () -> LimitMoment = LimitMoment.now
    ) {
        self.init(plan, features: features, ring: ring, lease: Lease(), grants: grants, audit: audit, now: now)
    }

    init(
        _ plan: GatewayPlan, features: [ServedFeature], ring: KeyRing, lease: Lease, grants: GrantIssuer,
        audit: AuditLog?, now: @escaping @Sendable () -> LimitMoment = LimitMoment.now
    ) {
        self.features = features.map(\.descriptor)
        self.grants = grants
        self.now = now
        self.lease = lease
        self.audit = audit
        var apps: [ExactText: ServedApp] = [:]
        for account in plan.accounts {
            let keys = ring.slots.filter { $0.issuerID == account.issuerID }
            for app in account.apps {
                apps[ExactText(app.bundleID)] = ServedApp(
                    app, of: account, features: features, keys: keys, life: audit?.keys.account(account.issuerID))
            }
        }
        self.apps = apps
    }

    // MARK: Whether it may

    /// Takes from the client's rate and quota: once for each request, and all of a batch at once or nothing.
    ///
    /// - Parameters:
    ///   - count: the requests of a batch.
    ///   - taken: requests that were taken before, and are part of `count`. They are given back when it is refused.
    ///   - feature: as in the path; only for counting what is refused.
    /// - Returns: how the limit stands that leaves less; nil for a client without limits.
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

    /// Takes a request that was refused for something else from the client's rate and quota.
    ///
    /// - Returns: whether there was room for it.
    public func charge(_ client: Client) -> Bool {
        if client.limits.isUnlimited { return true }
        return (try? client.usage.take(1, within: client.limits, at: now())) != nil
    }

    /// Authorises the names of a request, and only then resolves them: whether there is an app that the client may not use
    /// shows nowhere.
    ///
    /// - Parameters:
    ///   - keyID: nil for the account's active key.
    ///   - request: for the record.
    /// - Throws: `GatewayError.forbidden` for what no rule allows, and `.unknownApp`, `.unknownFeature` or `.unknownKey` for
    ///   what the rules allow and nobody configured.
    public func route(
        for client: Client, app bundleID: String, feature name: String, keyID: String? = nil,
        request: RequestMark = RequestMark(id: "-")
    ) throws(GatewayError) -> SigningRoute {
        do throws(GatewayError) {
            let permit: Permit
            do throws(Denial) { permit = try client.policy.permit(app: bundleID, feature: name, keyID: keyID) } catch {
                throw .forbidden(error)
            }
            let (app, feature, key) = try resolve(bundleID, name, keyID)
            return SigningRoute(
                key, turns: keyID == nil && app.life != nil ? app : nil, client: client, feature: feature,
                permit: permit,
                request: request, lease: lease, counters: client.counters(of: feature.descriptor.id))
        } catch {
            throw note(error, client, name)
        }
    }

    /// Which names of a request that went nowhere are configured: for its record, and for nobody's answer.
    public func known(
        app bundleID: String, feature name: String, keyID: String?
    ) -> (app: String?, feature: String?, keyID: String?) {
        guard let app = apps[ExactText(bundleID)] else { return (nil, nil, nil) }
        let feature = features.first { $0.id.hasSameBytes(as: name) }?.id
        return (app.bundleID, feature, keyID.flatMap { app.key($0) }?.identity.keyID)
    }

    /// The issuer ID of an app's account; nil for an app that is not configured.
    public func issuerID(ofApp bundleID: String) -> String? {
        guard let app = apps[ExactText(bundleID)] else { return nil }
        return app.issuerID
    }

    /// Whether a client may have something signed, and which line says so. It asks the rules only, not whether the app, the
    /// feature and the key exist.
    public func explain(
        client: Client, app: String, feature: String, keyID: String? = nil, product: String? = nil, offer: String? = nil
    ) -> PolicyDecision {
        let subject = OfferSubject(products: [product].compactMap(\.self), offers: [offer].compactMap(\.self))
        do throws(Denial) {
            let permit = try client.policy.permit(app: app, feature: feature, keyID: keyID)
            return .allowed(by: try permit.rule(for: subject))
        } catch {
            return .denied(error)
        }
    }

    // MARK: Signing

    /// From a request's JSON to the answer's.
    public func sign(_ body: [UInt8], along route: SigningRoute) async throws(GatewayError) -> [UInt8] {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: body) } catch {
            route.counters.note(.request(.body(error)))
            throw .request(.body(error))
        }
        return try await sign(document.root, along: route)
    }

    /// The same for JSON that has been parsed.
    public func sign(_ request: JSONValue, along route: SigningRoute) async throws(GatewayError) -> [UInt8] {
        do throws(GatewayError) {
            let held = try await route.feature.hold(self, request, route, nil)
            try await release(held.pending)
            route.counters.noteSigned()
            return held.answer
        } catch {
            route.counters.note(error)
            throw error
        }
    }

    /// From a decoded request to the sealed answer.
    public func sign<Feature: SigningFeature>(
        _ feature: Feature, _ input: Feature.Input, along route: SigningRoute
    ) async throws(GatewayError) -> Feature.Output {
        let held = try await hold(feature, input, along: route, item: nil)
        try await release(held.pending)
        return held.answer
    }

    /// Up to the answer and its entry, of which nothing has left. What the request is about is authorised first.
    ///
    /// - Parameter item: nil for a request that came alone.
    func hold<Feature: SigningFeature>(
        _ feature: Feature, _ input: Feature.Input, along route: SigningRoute, item: BatchItem?
    ) async throws(GatewayError) -> (answer: Feature.Output, pending: PendingRelease) {
        let subject = route.allowsEverySubject && audit == nil ? nil : feature.subject(of: input)
        if let subject, !route.allowsEverySubject {
            do { _ = try route.permit.rule(for: subject) } catch { throw .forbidden(error) }
        }
        try requireRecord()
        let turn = if let item { try item.turn.get() } else { try await self.turn(along: route) }
        if item == nil { audit?.queue.expect() }
        do throws(GatewayError) {
            // Somebody may have stopped the key since the batch began.
            if item != nil { try requireUse(of: turn, along: route) }
            let grant = grants.issue(for: turn.key.identity)
            let draft: Draft<Feature.Output>
            do throws(FeatureError) { draft = try feature.compose(input, for: grant) } catch { throw .request(error) }
            let facts = try await sign(draft.signingInput, nonce: grant.nonce, in: turn, isAlone: item == nil)
            let entry = subject.flatMap {
                self.entry(for: facts, with: turn.key, along: route, subject: $0, item: item)
            }
            // Once the entry has its time: none that is released is younger than its key's stop.
            try requireUse(of: turn, along: route)
            if item == nil { audit?.queue.noteSigned() }
            return (draft.seal(facts.signature), PendingRelease(entry: entry, turn: item == nil ? turn : nil))
        } catch {
            if item == nil {
                audit?.queue.expectNoMore()
                turn.end()
            }
            throw error
        }
    }

    private func sign(
        _ signingInput: [UInt8], nonce: Nonce, in turn: KeyTurn, isAlone: Bool
    ) async throws(GatewayError) -> SigningFacts {
        let digest = SHA256.hash(data: signingInput)
        let loop = isAlone ? loop(for: turn.key) : nil
        await loop?.keepStep()
        guard audit != nil else {
            let signature = try await self.signature(of: digest, with: turn.key)
            await loop?.keepStep()
            return SigningFacts(signature: signature, digest: digest, nonce: nonce, took: .zero)
        }
        // They meet again when it is recorded.
        let begun = ContinuousClock.now
        let signature = try await self.signature(of: digest, with: turn.key)
        return SigningFacts(signature: signature, digest: digest, nonce: nonce, took: .now - begun)
    }

    /// Where requests that are signed with the key keep step. Nil for a token: it signs on threads of its own, and brings its
    /// answers together. A batch is together as it is.
    private func loop(for key: ServedApp.Key) -> RequestLoop? {
        guard let loop = RequestLoop.current, key.slot.custody == .process else { return nil }
        return loop
    }

    private func signature(
        of digest: SHA256Digest, with key: ServedApp.Key
    ) async throws(GatewayError) -> P256Signature {
        do {
            guard let context = ServiceContext.current else { return try await key.slot.sign(digest) }
            return try await KeyCallSpan.around(key, context) { () throws(KeyError) in
                try await key.slot.sign(digest)
            }
        } catch {
            throw .key(error, keyID: key.identity.keyID)
        }
    }

    // MARK: Names

    private func resolve(
        _ bundleID: String, _ name: String, _ keyID: String?
    ) throws(GatewayError) -> (ServedApp, ServedFeature, ServedApp.Key) {
        guard let app = apps[ExactText(bundleID)] else { throw .unknownApp(bundleID) }
        guard let feature = app.features[ExactText(name)] else { throw .unknownFeature(name, app: bundleID) }
        guard let key = app.key(keyID) else { throw .unknownKey(keyID ?? "", app: bundleID) }
        return (app, feature, key)
    }

    private func note(_ error: GatewayError, _ client: Client, _ feature: String) -> GatewayError {
        let known = features.first { $0.id == feature }
        client.counters(of: known?.id ?? RequestCounters.unknownFeature).note(error)
        return error
    }
}
