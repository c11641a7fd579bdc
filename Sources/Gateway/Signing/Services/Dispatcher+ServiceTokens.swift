import AuditKit
import AuditLog
import SigningKit
import StrictJSON

/// Tokens of services. A token that Apple wants in several requests is signed once and handed out to each caller.
extension Dispatcher {
    public func token(_ body: [UInt8], for request: ResolvedRequest) async throws(GatewayError) -> [UInt8] {
        guard let service = request.service, service.profile.reuse != .never else {
            return try await sign(body, for: request)
        }
        let prepared: PreparedRequest
        do throws(GatewayError) { prepared = try self.prepared(body, for: request) } catch {
            // `sign` counts its own refusals.
            request.counters.note(error)
            throw error
        }
        let name = "\(service.identity)\n\(prepared.reuse())"
        let slot = tokens.slot(name, service.profile.reuse, at: grants.now())
        let known = usable(slot.token, for: request)
        let (issued, isNew) =
            if let known { (known, false) } else { try await newToken(body, for: request, in: slot, name) }
        do throws(GatewayError) {
            try await recordHandOut(of: issued, to: request)
            // An administrator may have stopped the key meanwhile.
            guard mayUse(issued.keyID, for: request) else { throw .noKeyInUse(app: request.app.bundleID) }
        } catch {
            if !isNew { request.counters.note(error) }
            throw error
        }
        // `sign` has counted a new one.
        if !isNew { request.counters.note(.success(issued.json)) }
        return issued.json
    }

    private func prepared(_ body: [UInt8], for request: ResolvedRequest) throws(GatewayError) -> PreparedRequest {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: body) } catch { throw .request(.body(error)) }
        let prepared = try request.feature.prepare(document.root)
        do throws(Denial) { _ = try request.matchingRules.rule(for: prepared.subject) } catch {
            throw .forbidden(error)
        }
        return prepared
    }

    /// Signs a token, unless another caller has got one while this one waited.
    ///
    /// - Returns: also whether this call signed it.
    private func newToken(
        _ body: [UInt8], for request: ResolvedRequest, in slot: ServiceTokenCache.Slot, _ name: String
    ) async throws(GatewayError) -> (token: IssuedToken, isNew: Bool) {
        try await slot.turn.pass { () async -> Result<(token: IssuedToken, isNew: Bool), GatewayError> in
            if let known = usable(slot.token, for: request) { return .success((known, false)) }
            let ofFleet = fleetToken(name, for: request)
            if let known = await ofFleet?.find({ usable($0, for: request) != nil }) {
                slot.keep(known)
                return .success((known, false))
            }
            do throws(GatewayError) {
                let json = try await sign(body, for: request)
                guard let token = IssuedToken(json) else {
                    throw .key(.failed("The answer is not a token."), keyID: request.key.settings.keyID)
                }
                slot.keep(token)
                await ofFleet?.end(with: token)
                return .success((token, true))
            } catch {
                await ofFleet?.end(with: nil)
                return .failure(error)
            }
        }.get()
    }

    /// Nil without a fleet, and for a service that accepts any number of tokens.
    private func fleetToken(_ name: String, for request: ResolvedRequest) -> SharedToken? {
        guard let shared, case .forSeconds = request.service?.profile.reuse else { return nil }
        return SharedToken(name, of: request.identity, in: shared)
    }

    /// The token, unless it is time for a new one, or its key was stopped. A token of a key that is no longer active stays
    /// in use until then: APNs refuses a new token within 20 minutes.
    private func usable(_ token: IssuedToken?, for request: ResolvedRequest) -> IssuedToken? {
        guard let token else { return nil }
        guard token.isFresh(at: grants.now().seconds) else { return nil }
        return mayUse(token.keyID, for: request) ? token : nil
    }

    /// Whether the configuration still has the key, and its state lets it sign.
    private func mayUse(_ keyID: String, for request: ResolvedRequest) -> Bool {
        guard let app = request.service?.app ?? request.activeKeyOf else { return keyID == request.key.settings.keyID }
        guard app.key(keyID)?.handle.isCompromised == false else { return false }
        return app.life.map { $0.key(keyID)?.state.signs == true } ?? true
    }

    private func recordHandOut(of token: IssuedToken, to request: ResolvedRequest) async throws(GatewayError) {
        guard let audit else { return }
        try requireWritableLog()
        let entry = audit.entry(
            .handOut(
                client: request.client.name, app: request.app.bundleID, feature: request.featureID, keyID: token.keyID,
                digest: token.digest, issued: token.issued, expires: token.expires, requestID: request.identity.id))
        do { try await audit.record([entry], answers: 1) } catch { throw .unrecorded(error) }
        // As in `release`.
        if audit.dependsOnOthers { try requireWritableLog() }
    }
}
