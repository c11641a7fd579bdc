import AuditKit
import AuditLog
import Crypto
import SigningKit
public import StrictJSON
import Tracing

/// The stages of signing, in their order. A single request is a batch of one.
extension Dispatcher {
    /// The number of signatures by a key in this process before the batch lets other requests run.
    private static let stride = 8

    /// A request of a batch.
    struct Item: Sendable {
        let value: JSONValue
        /// The position in the batch; nil for a single request.
        var index: Int?
        /// Names a refusal in its audit entry; nil for a single request.
        var reason: (@Sendable (GatewayError) -> RefusalReason)?
    }

    /// An answer in JSON that may leave when its entry is durable. The entry is nil without an audit log.
    private typealias Signed = Result<(json: [UInt8], entry: AuditEntry?), GatewayError>
    private typealias Selected = Result<SelectedKey, GatewayError>

    public func sign(_ body: [UInt8], for request: ResolvedRequest) async throws(GatewayError) -> [UInt8] {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: body) } catch {
            request.counters.note(.request(.body(error)))
            throw .request(.body(error))
        }
        for answer in await sign([Item(value: document.root)], for: request) { return try answer.get() }
        throw .key(.cancelled, keyID: request.key.settings.keyID)
    }

    /// Signs all requests of a batch with one key. Records them together, including refusals, before any answer leaves.
    ///
    /// - Parameter reason: names a refusal in its audit entry.
    /// - Returns: the answers, in the order of the requests.
    public func sign(
        _ batch: [JSONValue], for request: ResolvedRequest, reason: @escaping @Sendable (GatewayError) -> RefusalReason
    ) async -> [Result<[UInt8], GatewayError>] {
        await sign(
            batch.enumerated().map { Item(value: $0.element, index: $0.offset, reason: reason) }, for: request)
    }

    private func sign(_ items: [Item], for request: ResolvedRequest) async -> [Result<[UInt8], GatewayError>] {
        let selected: Selected
        do throws(GatewayError) { selected = .success(try await selectKey(for: request)) } catch {
            selected = .failure(error)
        }
        let key = try? selected.get()
        defer { key?.end() }
        // A signer or a service signs several requests in parallel. A key that signs in this task does not, because other
        // tasks would cost as much as the signatures.
        let isParallel = items.count > 1 && key?.key.handle.signsInCaller == false
        let signed =
            !isParallel
            ? await signInOrder(items, selected, request) : await signInParallel(items, selected, request)
        let answers = await release(signed, of: items, key, request)
        for answer in answers { request.counters.note(answer) }
        return answers
    }

    private func signInOrder(_ items: [Item], _ selected: Selected, _ request: ResolvedRequest) async -> [Signed] {
        var results: [Signed] = []
        results.reserveCapacity(items.count)
        for (position, item) in items.enumerated() {
            if position > 0, position % Self.stride == 0 { await Task.yield() }
            results.append(await sign(item, selected, request))
        }
        return results
    }

    private func signInParallel(_ items: [Item], _ selected: Selected, _ request: ResolvedRequest) async -> [Signed] {
        await withTaskGroup(of: (Int, Signed).self) { group in
            for (position, item) in items.enumerated() {
                group.addTask { (position, await self.sign(item, selected, request)) }
            }
            var results = [Signed?](repeating: nil, count: items.count)
            for await (position, result) in group { results[position] = result }
            return results.compactMap(\.self)
        }
    }

    // MARK: One item

    private func sign(_ item: Item, _ selected: Selected, _ request: ResolvedRequest) async -> Signed {
        var hasSignature = false
        do throws(GatewayError) {
            let prepared = try request.feature.prepare(item.value)
            if !request.allowsEverySubject {
                do throws(Denial) { _ = try request.matchingRules.rule(for: prepared.subject) } catch {
                    throw .forbidden(error)
                }
            }
            // A key must make no signature that cannot be recorded and released.
            try requireWritableLog()
            let selected = try selected.get()
            // An administrator may have stopped the key since its selection.
            try requireUse(of: selected, for: request)
            let grant = grants.issue(for: selected.key.identity)
            let draft: Draft<[UInt8]>
            do throws(FeatureError) { draft = try prepared.compose(grant) } catch { throw .request(error) }
            let digest = SHA256.hash(data: draft.signingInput)
            let begun = ContinuousClock.now
            let signed = try await signature(of: digest, with: selected.key)
            hasSignature = true
            let took = ContinuousClock.now - begun
            let entry = audit.map { audit in
                audit.entry(
                    .signature(
                        client: request.client.name, app: request.app.bundleID, feature: request.featureID,
                        keyID: selected.key.identity.keyID, fingerprint: signed.fingerprint,
                        tokenSerial: signed.tokenSerial, subject: prepared.subject,
                        user: prepared.subject.user.map(audit.hash), digest: digest,
                        issued: grant.issuedAt, expires: draft.expires, nonce: grant.nonce,
                        requestID: request.identity.id, item: item.index, keyMicroseconds: Int(took.microseconds),
                        requestMicroseconds: Int((.now - request.identity.begun).microseconds)))
            }
            // Check the key after the entry got its time, so that no released entry is younger than a stop of its key.
            try requireUse(of: selected, for: request)
            return .success((draft.makeAnswer(signed.signature), entry))
        } catch {
            if hasSignature { SignatureCounts.shared.end() }
            return .failure(error)
        }
    }

    /// Within a trace, a span covers the call: from the key's queue to the verified signature.
    private func signature(
        of digest: SHA256Digest, with key: ServedApp.Key
    ) async throws(GatewayError) -> KeySignature {
        let span = ServiceContext.current.map {
            InstrumentationSystem.tracer.startSpan("sign", context: $0, ofKind: .internal)
        }
        defer { span?.end() }
        if let span {
            span.attributes["privyseal.key_id"] = key.identity.keyID
            if let custody = key.handle.custody { span.attributes["privyseal.custody"] = custody.rawValue }
        }
        do throws(KeyError) {
            let signature = try await key.handle.signature(of: digest)
            span?.attributes["privyseal.custody"] = signature.custody.rawValue
            return signature
        } catch {
            span?.setStatus(SpanStatus(code: .error, message: "\(error)"))
            throw .key(error, keyID: key.identity.keyID)
        }
    }

    // MARK: Release

    /// Throws while no answer may leave, and counts the requests that are refused for it.
    func requireWritableLog(for count: Int = 1) throws(GatewayError) {
        guard let audit, case .unwritable(let error) = audit.state else { return }
        audit.noteRefused(error, count: count)
        throw .unrecorded(error)
    }

    /// Records all items in one transaction. Returns when their entries are durable, so that the answers may leave.
    private func release(
        _ signed: [Signed], of items: [Item], _ selected: SelectedKey?, _ request: ResolvedRequest
    ) async -> [Result<[UInt8], GatewayError>] {
        var signed = signed
        let answers = signed.count { if case .success = $0 { true } else { false } }
        defer { SignatureCounts.shared.end(answers) }
        do throws(GatewayError) {
            // The key may have been stopped since the first signature.
            if let selected { try requireUse(of: selected, for: request) }
            // The key states of the fleet, or the last quorum of witnesses, may be outdated since.
            if audit?.dependsOnOthers == true { try requireWritableLog(for: answers) }
        } catch {
            signed = signed.map { $0.flatMap { _ in .failure(error) } }
        }
        guard let audit else { return signed.map { $0.map { $0.json } } }
        let released = signed.count { if case .success = $0 { true } else { false } }
        let entries = zip(items, signed).compactMap { item, signed -> AuditEntry? in
            switch signed {
            case .success(let answer): answer.entry
            case .failure(let error): entry(of: error, item, request, in: audit)
            }
        }
        if entries.isEmpty { return signed.map { $0.map { $0.json } } }
        do throws(GatewayError) {
            do throws(AuditError) { try await audit.record(entries, answers: released) } catch {
                throw .unrecorded(error)
            }
            // If this process was stopped meanwhile (SIGSTOP), another key of the fleet may be active by now.
            if audit.dependsOnOthers, let selected {
                try requireWritableLog(for: released)
                try requireUse(of: selected, for: request)
            }
            return signed.map { $0.map { $0.json } }
        } catch {
            // No answer leaves without an entry. An item that was refused for another reason keeps that error.
            return signed.map { $0.flatMap { _ in .failure(error) } }
        }
    }

    /// The entry of a refused item. A refused single request gets its entry from `Routes`, with the refusals of
    /// earlier stages.
    private func entry(
        of error: GatewayError, _ item: Item, _ request: ResolvedRequest, in audit: AuditLog
    ) -> AuditEntry? {
        if case .unrecorded = error { return nil }
        guard let index = item.index, let reason = item.reason?(error) else { return nil }
        if reason.isCounted {
            audit.count(reason.type, client: request.client.name)
            return nil
        }
        return audit.entry(
            .refusal(
                client: request.client.name, app: request.app.bundleID, feature: request.featureID,
                keyID: request.wantedKeyID, reason: reason.type, status: reason.status,
                requestID: request.identity.id, item: index))
    }
}

// MARK: The key of a request

extension Dispatcher {
    /// Selects the key. The caller must call `SelectedKey.end()`.
    func selectKey(for request: ResolvedRequest) async throws(GatewayError) -> SelectedKey {
        guard let app = request.activeKeyOf, let life = app.life else {
            let selected = SelectedKey(key: request.served, life: nil)
            try requireUse(of: selected, for: request)
            return selected
        }
        guard let keyID = await life.enter() else { throw .noKeyInUse(app: app.bundleID) }
        guard let key = app.key(keyID) else {
            life.leave()
            throw .key(.unfit("The configuration does not name the active key."), keyID: keyID)
        }
        return SelectedKey(key: key, life: life)
    }

    /// Throws unless the key may sign. Call it after signing, too: an administrator may have stopped the key meanwhile.
    func requireUse(of selected: SelectedKey, for request: ResolvedRequest) throws(GatewayError) {
        let keyID = selected.key.identity.keyID
        // The register may have the private key as compromised under another ID than the configuration.
        if selected.key.handle.isCompromised {
            throw selected.life == nil ? .keyNotInUse(keyID, .compromised) : .noKeyInUse(app: request.app.bundleID)
        }
        if selected.key.handle.isAnother {
            throw .key(.unfit("The key is not the one in the register."), keyID: keyID)
        }
        if let life = selected.life {
            guard life.key(keyID)?.state.signs == true else { throw .noKeyInUse(app: request.app.bundleID) }
            // In a fleet, another key becomes active at the agreed time, also if a request took longer.
            guard life.activeKeyID == keyID else {
                throw .key(.unavailable("Another key became active while it signed."), keyID: keyID)
            }
            return
        }
        guard let life = request.served.handle.life else { return }
        // A key that the register does not have in this account is not in use.
        guard let key = life.key(keyID) else { throw .keyNotInUse(keyID, .staged) }
        guard key.state.signs else { throw .keyNotInUse(keyID, key.state) }
        if key.state == .retiring, let deadline = key.deadline, audit?.clock.isOver(deadline) == true {
            throw .keyNotInUse(keyID, .retired)
        }
    }
}

/// The key that signs a request, or all requests of a batch.
///
/// For a request that names no key, an activation waits until `end()`. So the entry is in the log before the change.
struct SelectedKey: Sendable {
    let key: ServedApp.Key
    /// Nil if the request names the key, or without a register: no change waits for such a request.
    let life: AccountKeys?

    /// Call it once, when the entry is durable or will not be written.
    func end() { life?.leave() }
}
