public import Crypto
import Logging
import Metrics
public import SigningKit
import Synchronization

extension KeyHandle {
    /// Signs, and verifies the signature if `mode` requires it. A signature that fails verification is not returned. A
    /// place that is unavailable is down until it signs a proof again.
    ///
    /// If one of several places fails, the next one signs, once. The caller must call `SignatureCounts.end()` when the
    /// signature is recorded or discarded.
    public func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        try await signature(of: digest).signature
    }

    func signature(of digest: SHA256Digest) async throws(KeyError) -> KeySignature {
        guard let only else { return try await replicatedSignature(of: digest) }
        return try await signature(of: digest, at: only)
    }

    private func signature(of digest: SHA256Digest, at replica: KeyReplica) async throws(KeyError) -> KeySignature {
        let openKey = try replica.current()
        let signature: P256Signature
        do { signature = try await openKey.key.sign(digest) } catch {
            if only == nil ? error.showsFailure : error.makesKeyDown { note(.failure(error), at: replica) }
            throw error
        }
        // A signature for a request counts as a proof of such a key.
        let isProof = openKey.hasProofSchedule && (replica.proofAge ?? .seconds(1)) >= .seconds(1)
        SignatureCounts.shared.begin()
        if isProof || openKey.isVerificationDue(mode, isSuspicious: replica.hasMadeBadSignature) {
            do throws(KeyError) { try verify(signature, digest, by: openKey.key, at: replica) } catch {
                SignatureCounts.shared.end()
                throw error
            }
        }
        if isProof { note(.success(.now), at: replica) }
        return KeySignature(signature, by: openKey)
    }

    private func verify(
        _ signature: P256Signature, _ digest: SHA256Digest, by key: any SigningKey, at replica: KeyReplica
    ) throws(KeyError) {
        guard !key.publicKey.verifies(signature, of: digest) else { return }
        replica.noteBadSignature()
        badSignatures.increment()
        key.madeWrongSignature()
        let error = KeyError.failed(
            "The key \(settings.keyID) made a signature that does not verify; it was not released.")
        // Another place can sign until this one has signed a valid proof.
        if only == nil { replica.note(.failure(error)) }
        recordState(at: replica)
        logger.critical(
            "A signature did not verify against the key's public key; it was not released", metadata: name(replica))
        throw error
    }

    // MARK: Several places

    private func replicatedSignature(of digest: SHA256Digest) async throws(KeyError) -> KeySignature {
        guard let first = select() else { throw failure }
        let failure: KeyError
        do throws(KeyError) { return try await countedSignature(of: digest, at: first) } catch { failure = error }
        guard failure != .cancelled, !Task.isCancelled, let next = select(without: first) else { throw failure }
        let signature: KeySignature
        do throws(KeyError) { signature = try await countedSignature(of: digest, at: next) } catch { throw failure }
        failovers?.increment()
        return signature
    }

    private func countedSignature(
        of digest: SHA256Digest, at replica: KeyReplica
    ) async throws(KeyError) -> KeySignature {
        replica.inFlight.wrappingAdd(1, ordering: .relaxed)
        defer { replica.inFlight.wrappingSubtract(1, ordering: .relaxed) }
        return try await signature(of: digest, at: replica)
    }

    /// - Parameter tried: the place that has failed this request.
    /// - Returns: a place whose last proof was signed. If there is none, a place that signed proofs before, because it may
    ///   have recovered.
    private func select(without tried: KeyReplica? = nil) -> KeyReplica? {
        var selected: (replica: KeyReplica, inFlight: Int)?
        for replica in replicas where replica !== tried && replica.isUsable {
            if settings.selection == .inOrder { return replica }
            let inFlight = replica.inFlight.load(ordering: .relaxed)
            if inFlight < selected?.inFlight ?? .max { selected = (replica, inFlight) }
        }
        return selected?.replica ?? replicas.first { $0 !== tried && $0.hasProof }
    }

    /// Why no place can sign.
    private var failure: KeyError {
        switch state {
        case .down(let error), .refused(let error): error
        case .ready, .degraded: .unavailable("The state of the key has just changed.")
        }
    }

    // MARK: Proofs

    /// Signs a proof of possession at one place, and verifies it in every mode. Places that can sign are tried first.
    ///
    /// - Returns: the first place's reason if no place signed a proof; nil for a valid proof.
    @discardableResult
    package func prove() async -> KeyError? {
        var first: KeyError?
        let usable = replicas.filter(\.isUsable)
        for replica in usable + replicas.filter({ replica in !usable.contains { $0 === replica } }) {
            guard let error = await prove(at: replica) else { return nil }
            first = first ?? error
        }
        return first
    }

    /// Signs a proof of possession at this place, and verifies it in every mode.
    ///
    /// - Returns: the reason if there is no proof; nil for a valid one.
    @discardableResult
    package func prove(at replica: KeyReplica) async -> KeyError? {
        do throws(KeyError) {
            let key = try replica.current().key
            let digest = ProofOfPossession().digest
            let signature = try await key.sign(digest)
            SignatureCounts.shared.settle()
            try verify(signature, digest, by: key, at: replica)
            note(.success(.now), at: replica)
            return nil
        } catch {
            if error.showsFailure { note(.failure(error), at: replica) }
            return error
        }
    }
}

extension KeyError {
    /// Whether a key with one place is down after this error of a request.
    fileprivate var makesKeyDown: Bool {
        if case .unavailable = self { true } else { concernsLogin }
    }

    /// Whether the error shows that a place does not sign. A full queue shows nothing: its signatures show whether the
    /// key works. A cancelled signature shows nothing, either.
    fileprivate var showsFailure: Bool { self != .busy && self != .cancelled }
}
