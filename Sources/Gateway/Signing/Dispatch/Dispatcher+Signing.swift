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

    private typealias Signed = Result<SignedAnswer, GatewayError>

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
        let selected: Result<SelectedKey, GatewayError>
        do throws(GatewayError) { selected = .success(try await selectKey(for: request)) } catch {
            selected = .failure(error)
        }
        defer { try? selected.get().end() }
        // A token or a service signs several requests in parallel. A key in this process signs in this task, because
        // other tasks would cost as much as the signatures.
        let custody = (try? selected.get())?.key.handle.custody
        let isParallel = items.count > 1 && custody != nil && custody != .process
        let signed =
            isParallel ? await signInParallel(items, selected, request) : await signInOrder(items, selected, request)
        let answers = await release(signed, of: items, selected, request)
        for answer in answers {
            switch answer {
            case .success: request.counters.noteSigned()
            case .failure(let error): request.counters.note(error)
            }
        }
        return answers
    }

    private func signInOrder(
        _ items: [Item], _ selected: Result<SelectedKey, GatewayError>, _ request: ResolvedRequest
    ) async -> [Signed] {
        var results: [Signed] = []
        results.reserveCapacity(items.count)
        for (position, item) in items.enumerated() {
            if position > 0, position % Self.stride == 0 { await Task.yield() }
            results.append(await sign(item, selected, request))
        }
        return results
    }

    private func signInParallel(
        _ items: [Item], _ selected: Result<SelectedKey, GatewayError>, _ request: ResolvedRequest
    ) async -> [Signed] {
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

    private func sign(
        _ item: Item, _ selected: Result<SelectedKey, GatewayError>, _ request: ResolvedRequest
    ) async -> Signed {
        do throws(GatewayError) {
            let prepared = try request.feature.prepare(item.value)
            try authorize(prepared.subject, for: request)
            try requireRecord()
            let selected = try selected.get()
            // An administrator may have stopped the key since its selection.
            try requireUse(of: selected, for: request)
            let grant = grants.issue(for: selected.key.identity)
            let composed: ComposedRequest
            do throws(FeatureError) { composed = try prepared.compose(grant) } catch { throw .request(error) }
            let digest = SHA256.hash(data: composed.signingInput)
            let begun = ContinuousClock.now
            let signature = try await signature(of: digest, with: selected.key)
            let facts = SigningFacts(digest: digest, nonce: grant.nonce, took: .now - begun)
            let entry = entry(for: facts, with: selected.key, subject: prepared.subject, item: item, request)
            // Check the key after the entry got its time, so that no released entry is younger than a stop of its key.
            try requireUse(of: selected, for: request)
            return .success(SignedAnswer(json: composed.answer(signature), entry: entry))
        } catch {
            return .failure(error)
        }
    }

    private func authorize(_ subject: OfferSubject, for request: ResolvedRequest) throws(GatewayError) {
        guard !request.allowsEverySubject else { return }
        do throws(Denial) { _ = try request.matchingRules.rule(for: subject) } catch { throw .forbidden(error) }
    }

    private func signature(
        of digest: SHA256Digest, with key: ServedApp.Key
    ) async throws(GatewayError) -> P256Signature {
        do {
            guard let context = ServiceContext.current else { return try await key.handle.sign(digest) }
            return try await KeyCallSpan.around(key, context) { () throws(KeyError) in
                try await key.handle.sign(digest)
            }
        } catch {
            throw .key(error, keyID: key.identity.keyID)
        }
    }

    // MARK: Release

    /// Records all items in one transaction. Returns when their entries are durable, so that the answers may leave.
    private func release(
        _ signed: [Signed], of items: [Item], _ selected: Result<SelectedKey, GatewayError>, _ request: ResolvedRequest
    ) async -> [Result<[UInt8], GatewayError>] {
        var signed = signed
        do throws(GatewayError) {
            // The key may have been stopped since the first signature.
            if case .success(let selected) = selected { try requireUse(of: selected, for: request) }
        } catch {
            signed = signed.map { $0.flatMap { _ in .failure(error) } }
        }
        do throws(GatewayError) {
            let answers = signed.count { if case .success = $0 { true } else { false } }
            try await record(zip(items, signed).compactMap { entry(of: $1, item: $0, request) }, answers: answers)
            return signed.map { $0.map(\.json) }
        } catch {
            // No answer leaves without an entry. An item that was refused for another reason keeps that error.
            return signed.map { $0.flatMap { _ in .failure(error) } }
        }
    }
}

/// An answer in JSON that may leave when its entry is durable.
struct SignedAnswer: Sendable {
    let json: [UInt8]
    /// Nil without an audit log.
    let entry: AuditEntry?
}

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
            throw .key(.unavailable("The configuration no longer names the active key."), keyID: keyID)
        }
        return SelectedKey(key: key, life: life)
    }

    /// Throws unless the key may sign. Call it after signing, too: an administrator may have stopped the key meanwhile.
    func requireUse(of selected: SelectedKey, for request: ResolvedRequest) throws(GatewayError) {
        let keyID = selected.key.identity.keyID
        if let life = selected.life {
            guard life.key(keyID)?.state.signs == true else { throw .noKeyInUse(app: request.app.bundleID) }
            return
        }
        guard let life = request.life else { return }
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

/// The trace span of a signature, from the key's queue to the verified signature. Made only within a trace.
enum KeyCallSpan {
    static func around(
        _ key: ServedApp.Key, _ context: ServiceContext, _ body: () async throws(KeyError) -> P256Signature
    ) async throws(KeyError) -> P256Signature {
        let span = InstrumentationSystem.tracer.startSpan("sign", context: context, ofKind: .internal)
        defer { span.end() }
        span.attributes["privyseal.key_id"] = key.identity.keyID
        if let custody = key.handle.custody { span.attributes["privyseal.custody"] = custody.rawValue }
        do throws(KeyError) {
            return try await body()
        } catch {
            span.setStatus(SpanStatus(code: .error, message: "\(error)"))
            throw error
        }
    }
}
