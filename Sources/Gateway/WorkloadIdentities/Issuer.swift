import Crypto
import Logging
import Metrics
import SigningKit
import Synchronization

/// An issuer of tokens with its current keys.
final class Issuer: Sendable {
    let settings: IssuerSettings
    private let source: any KeySetSource
    private let state = Mutex(State())
    private let logger = Logger(label: "privyseal.issuers")

    private typealias KeySetRead = Task<Result<KeySet, KeySetError>, Never>

    private struct State {
        /// The last keys that were read, and when.
        var known: (keys: KeySet, text: [UInt8], readAt: ContinuousClock.Instant)?
        /// The read in progress. All requests that need it wait for the same one.
        var read: KeySetRead?
        /// When the last read failed, and why.
        var failure: (at: ContinuousClock.Instant, error: KeySetError)?
        /// When a token last named an unknown key, and the keys were read again because of it.
        var unknownKeyAt: ContinuousClock.Instant?
    }

    /// A token cannot make the gateway read the keys more often because it names an unknown key.
    static let unknownKeyPause = Duration.seconds(60)
    /// After a failed read, the next one waits for this time.
    static let failurePause = Duration.seconds(5)
    /// By how much an issuer's clock may be fast.
    private static let tolerance: Int64 = 30

    init(_ settings: IssuerSettings, source: (any KeySetSource)? = nil) {
        self.settings = settings
        self.source = source ?? settings.keys.source
    }

    // MARK: Tokens

    func isIssuer(of claims: TokenClaims) -> Bool {
        switch settings.sign {
        case .issuer(let issuer): claims.issuer?.hasSameBytes(as: issuer) ?? false
        case .trustDomain(let domain): claims.subject.utf8.starts(with: "spiffe://\(domain)/".utf8)
        }
    }

    /// - Parameter digest: of the whole text of the token.
    func verify(
        _ token: WorkloadToken, digest: SHA256Digest, at now: Timestamp,
        by clock: ContinuousClock.Instant = .now
    ) async throws(IdentityError) -> WorkloadIdentity {
        let name = settings.name
        let (header, claims) = (token.header, token.claims)
        guard let algorithm = VerificationAlgorithm(exactly: header.algorithm) else {
            throw .algorithmNotAccepted(issuer: name)
        }
        guard claims.audiences.containsExactly(settings.audience) else { throw .wrongAudience(issuer: name) }
        guard claims.expires > now else { throw .expired(issuer: name) }
        let latest = now.later(by: Self.tolerance)
        guard claims.notBefore ?? now <= latest, claims.issuedAt ?? now <= latest else {
            throw .notYetValid(issuer: name)
        }
        let (keys, key) = try await key(for: header.keyID, algorithm, at: clock)
        guard key.verifies(token.signature, of: token.signingInput) else { throw .wrongSignature(issuer: name) }
        let identity = WorkloadIdentity(token, issuer: name)
        keys.remember(identity, of: digest, length: token.signingInput.count + token.signature.count, at: now)
        return identity
    }

    /// The identity of a token that the current keys have verified before.
    func identity(
        of digest: SHA256Digest, at now: Timestamp, by clock: ContinuousClock.Instant = .now
    ) -> WorkloadIdentity? {
        guard let identity = currentKeys(at: clock)?.identity(of: digest), identity.expires > now,
            identity.notBefore ?? now <= now.later(by: Self.tolerance)
        else { return nil }
        return identity
    }

    private func key(
        for keyID: String?, _ algorithm: VerificationAlgorithm, at clock: ContinuousClock.Instant
    ) async throws(IdentityError) -> (KeySet, VerificationKey) {
        var keys = try await keys(at: clock)
        guard let keyID else {
            if keys.keys.isEmpty { keys = await newerKeys(than: keys, at: clock) }
            guard !keys.keys.isEmpty else { throw .keysUnavailable(issuer: settings.name, .noUsableKey) }
            let fitting = keys.keys.filter { $0.algorithm == algorithm }
            guard fitting.count == 1, let key = fitting.first else { throw .noKeyID(issuer: settings.name) }
            return (keys, key)
        }
        func named(_ keys: KeySet) -> [VerificationKey] {
            keys.keys.filter { $0.keyID?.hasSameBytes(as: keyID) ?? false }
        }
        // A read in progress may have begun before the issuer had the key. Then a second one follows.
        for _ in 0..<2 where named(keys).isEmpty { keys = await newerKeys(than: keys, at: clock) }
        guard !keys.keys.isEmpty else { throw .keysUnavailable(issuer: settings.name, .noUsableKey) }
        let candidates = named(keys)
        guard !candidates.isEmpty else { throw .unknownKey(issuer: settings.name) }
        guard let key = candidates.first(where: { $0.algorithm == algorithm }) else {
            throw .algorithmOfOtherKey(issuer: settings.name)
        }
        return (keys, key)
    }

    /// Reads the keys again, but not more often than once in `unknownKeyPause`. Waits for a read in progress.
    ///
    /// - Returns: the keys that were read, or those that other requests have read meanwhile; `keys` without new ones.
    private func newerKeys(than keys: KeySet, at clock: ContinuousClock.Instant) async -> KeySet {
        let read = state.withLock { state -> KeySetRead? in
            if let known = state.known, known.keys !== keys { return Task { .success(known.keys) } }
            if let read = state.read { return read }
            if let last = state.unknownKeyAt, clock - last < Self.unknownKeyPause { return nil }
            state.unknownKeyAt = clock
            return beginRead(&state, at: clock)
        }
        return (try? await read?.value.get()) ?? keys
    }

    // MARK: Keys

    /// The keys if they are not too old. Begins a read if they are older than the refresh interval, without waiting.
    private func currentKeys(at clock: ContinuousClock.Instant) -> KeySet? {
        let known = state.withLock { $0.known }
        guard let known else { return nil }
        let age = clock - known.readAt
        if age >= settings.refreshInterval, mayRetry(at: clock) { _ = beginRead(at: clock) }
        return age < settings.maximumAge ? known.keys : nil
    }

    /// The current keys. Waits for them if they are missing or too old.
    private func keys(at clock: ContinuousClock.Instant) async throws(IdentityError) -> KeySet {
        if let keys = currentKeys(at: clock) { return keys }
        let failure = state.withLock { $0.failure }
        if let failure, !mayRetry(at: clock) {
            throw .keysUnavailable(issuer: settings.name, failure.error)
        }
        switch await readKeys(at: clock) {
        case .success(let keys): return keys
        case .failure(let error): throw .keysUnavailable(issuer: settings.name, error)
        }
    }

    private func mayRetry(at clock: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.failure.map { clock - $0.at >= Self.failurePause } ?? true }
    }

    /// Begins to read the keys, unless they are known.
    func prepare() {
        state.withLock { state in
            if state.known == nil { _ = beginRead(&state, at: .now) }
        }
    }

    /// Reads the keys, or waits for the read in progress.
    func readKeys(at clock: ContinuousClock.Instant = .now) async -> Result<KeySet, KeySetError> {
        await beginRead(at: clock).value
    }

    private func beginRead(at clock: ContinuousClock.Instant) -> KeySetRead {
        state.withLock { state in beginRead(&state, at: clock) }
    }

    private func beginRead(_ state: inout State, at clock: ContinuousClock.Instant) -> KeySetRead {
        if let read = state.read { return read }
        // Detached: it belongs to no single request.
        let read = Task.detached { await self.read(at: clock) }
        state.read = read
        return read
    }

    private func read(at clock: ContinuousClock.Instant) async -> Result<KeySet, KeySetError> {
        let result: Result<(KeySet, [UInt8]), KeySetError>
        do throws(KeySetError) {
            let text = try await source.read()
            let known = state.withLock { $0.known }
            // The same keys keep the tokens that they have verified.
            let keys = if let known, known.text == text { known.keys } else { try KeySet(text) }
            result = .success((keys, text))
        } catch {
            result = .failure(error)
        }
        note(result.map(\.0))
        return state.withLock { state in
            state.read = nil
            switch result {
            case .success(let (keys, text)):
                state.known = (keys, text, clock)
                state.failure = nil
            // A read can take as long as the pause after it.
            case .failure(let error): state.failure = (max(clock, .now), error)
            }
            return result.map(\.0)
        }
    }

    private func note(_ result: Result<KeySet, KeySetError>) {
        let outcome: String
        switch result {
        case .success(let keys):
            outcome = "read"
            guard keys.keys.isEmpty else { break }
            logger.warning(
                "No token of an issuer is accepted: \(KeySetError.noUsableKey)",
                metadata: ["issuer": "\(settings.name)"])
        case .failure(let error):
            outcome = "failed"
            logger.warning(
                """
                The keys of an issuer were not read: \(error). Earlier keys, if there are any, verify tokens until they are \
                \(settings.maximumAge.components.seconds) seconds old.
                """,
                metadata: ["issuer": "\(settings.name)"])
        }
        Counter(
            label: "privyseal_issuer_key_reads_total", dimensions: [("issuer", settings.name), ("outcome", outcome)]
        ).increment()
    }
}
