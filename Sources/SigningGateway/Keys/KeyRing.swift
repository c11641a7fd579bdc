public import SigningKit
import Synchronization

/// Every key of the configuration, and the places where they live.
///
/// Keys that live in one place share one backend, and with it one login. A key that cannot be opened leaves its slot
/// empty, and says why; the others serve.
public final class KeyRing: Sendable {
    /// In the order of the configuration.
    public let slots: [KeySlot]

    /// By scheme.
    private let backends: [String: Backend]
    /// Every place of the configuration, in the order of its first key.
    private let places: [KeyPlace]
    /// Handed on from ring to ring: tokens do not like to be opened in parallel.
    let opening: Turnstile

    private struct Backend {
        let type: any KeyBackend.Type
        let settings: KeyBackendSettings
    }

    func type(for scheme: String) -> (any KeyBackend.Type)? { backends[scheme]?.type }

    /// Touches no key yet: `openMissing` does.
    ///
    /// - Parameters:
    ///   - predecessor: the ring that served until now. What is the same in both stays open and keeps its
    ///     state; so a PIN that was refused stays refused, unless another one is in its place. A login that is blocked is
    ///     tried once more.
    ///   - rejected: a ring that never served because its keys could not be opened. A PIN that was refused there is not
    ///     tried again either.
    public init(
        _ plan: GatewayPlan, backends: [any KeyBackend.Type], secrets: any SecretSource,
        inheriting predecessor: KeyRing? = nil, rejected: KeyRing? = nil, audit: AuditLog? = nil
    ) {
        var byScheme: [String: Backend] = [:]
        for type in backends {
            let settings = plan.backendSettings[type.scheme] ?? KeyBackendSettings(defaultsOf: type.settings)
            byScheme[type.scheme] = Backend(type: type, settings: settings)
        }
        self.backends = byScheme
        opening = predecessor?.opening ?? Turnstile()
        var places: [KeyPlace] = []
        var slots: [KeySlot] = []
        for account in plan.accounts {
            for key in account.keys {
                let place = Self.place(of: key, byScheme, secrets, known: places, predecessor, rejected, audit)
                if let place, !places.contains(where: { $0 === place }) { places.append(place) }
                let former = predecessor?.slots.first { $0.precedes(key, in: place) }
                slots.append(
                    KeySlot(
                        key, issuerID: account.issuerID, isActive: key.keyID == account.activeKeyID,
                        mode: plan.verification, place: place, after: former,
                        isSamePlace: former?.place === place, audit: audit))
            }
        }
        self.places = places
        self.slots = slots
    }

    /// Opens what is not open, one after the other. Slots whose failure only a person can mend are left alone, so a
    /// refused PIN is not tried again.
    ///
    /// - Returns: whether a key came in.
    @discardableResult
    public func openMissing() async -> Bool {
        var hasOpened = false
        for slot in slots where await open(slot) { hasOpened = true }
        return hasOpened
    }

    /// Opens one slot, unless it is open or only a person can mend it.
    ///
    /// - Returns: whether a key came in.
    @discardableResult
    public func open(_ slot: KeySlot) async -> Bool {
        // A key that is open does not wait for a token that hangs.
        guard slot.publicKey == nil else { return false }
        return await opening.pass {
            guard slot.publicKey == nil else { return false }
            if case .refused = slot.state { return false }
            do throws(KeyError) { slot.fill(with: try await find(slot)) } catch { slot.fail(with: error) }
            return slot.publicKey != nil
        }
    }

    /// Every key that is open signs a proof, at the same time.
    ///
    /// - Parameters:
    ///   - age: proofs that are younger hold.
    ///   - isWanted: which keys.
    public func prove(
        olderThan age: Duration = .zero, where isWanted: (KeySlot) -> Bool = { _ in true }
    ) async {
        await noteHealth()
        await withTaskGroup { group in
            for slot in slots where slot.publicKey != nil && isWanted(slot) {
                if let known = slot.proofAge, known < age { continue }
                // For each proof of such a key a person may have to type a PIN: one is enough, until it fails to sign.
                if age > .zero, slot.asksForEachSignature, slot.state.canSign { continue }
                group.addTask { await slot.prove() }
            }
        }
    }

    /// Waits for signatures in flight, then gives the tokens back.
    ///
    /// - Parameter successor: the ring that serves from now on; what both have stays open.
    public func close(except successor: KeyRing? = nil) async {
        for place in places where successor?.places.contains(where: { $0 === place }) != true { await place.close() }
    }

    /// What every place that is open says of itself, in the order of the configuration.
    public func report() async -> [KeyBackendReport] {
        var reports: [KeyBackendReport] = []
        for place in places { if let report = await place.openBackend?.report() { reports.append(report) } }
        return reports
    }

    // MARK: Opening

    /// The place of a key: the predecessor's, when it still means the same. Nil when no backend can make sense of the
    /// URI; opening the key then says why.
    private static func place(
        of key: KeyPlan, _ backends: [String: Backend], _ secrets: any SecretSource, known: [KeyPlace],
        _ predecessor: KeyRing?, _ rejected: KeyRing?, _ audit: AuditLog?
    ) -> KeyPlace? {
        guard let backend = backends[key.uri.scheme], let locator = try? backend.type.address(of: key.uri).locator
        else { return nil }
        if let known = known.first(where: { $0.locator == locator }) { return known }
        let isSame = { (place: KeyPlace) in place.locator == locator && place.hasSettings(backend.settings) }
        if let place = predecessor?.places.first(where: isSame), predecessor?.isWorthANewTry(place) != true {
            return place
        }
        if let place = rejected?.places.first(where: isSame), place.hasRefusedLogin,
            !place.hasBlockedLogin, !place.hasNewSecrets
        {
            return place
        }
        return KeyPlace(locator, type: backend.type, settings: backend.settings, secrets: secrets, audit: audit)
    }

    /// Whether the place or a key there was refused with secrets that have been replaced since, or waits for a person to
    /// look at the token.
    private func isWorthANewTry(_ place: KeyPlace) -> Bool {
        var isRefused = place.hasRefusedLogin
        var isBlocked = place.hasBlockedLogin
        for slot in slots where slot.place === place {
            guard case .refused(let error) = slot.state else { continue }
            isRefused = true
            if error.isBlockedLogin { isBlocked = true }
        }
        return isBlocked || (isRefused && place.hasNewSecrets)
    }

    private func find(_ slot: KeySlot) async throws(KeyError) -> any SigningKey {
        guard let served = backends[slot.plan.uri.scheme] else {
            let known = backends.keys.sorted().map { $0 + ":" }.joined(separator: ", ")
            throw .invalidURI("no key backend serves its scheme; the schemes are \(known)")
        }
        var selector = try served.type.address(of: slot.plan.uri).selector
        selector.publicKey = slot.plan.publicKey
        guard let place = slot.place else { throw .closed }
        return try await place.backend().key(selector)
    }

    /// What a backend says of itself reaches the slots of its keys.
    private func noteHealth() async {
        for place in places {
            guard let health = await place.openBackend?.health() else { continue }
            for slot in slots where slot.place === place { slot.note(health) }
        }
    }
}
