import AuditKit
import AuditLog
import Crypto
import Logging
import SigningKit
import Synchronization

extension KeyHandle {
    /// Sets the open key of a place, unless it is another key.
    func fill(_ replica: KeyReplica, with key: any SigningKey) {
        replica.note(tokenSerial: key.tokenSerial)
        if let difference = difference(of: key) { return fail(replica, with: .unfit(difference)) }
        replica.fill(with: key)
    }

    /// Compares the key with the pinned fingerprint and the configured public key. If the configuration has neither, the
    /// fingerprint in the register decides, and if that has none, the first place that was opened.
    ///
    /// - Returns: a sentence if it is another key.
    private func difference(of key: any SigningKey) -> String? {
        let fingerprint = PublicKeyFingerprint(of: key.publicKey)
        if let pinned = settings.pinned, pinned != fingerprint {
            return "The key's fingerprint is \(fingerprint), but \(pinned) is pinned: this is another key."
        }
        if let expected = settings.publicKey, expected != Array(key.publicKey.x963Representation) {
            return "The key's public key is not the one in the configured PEM: this is another key."
        }
        if !isPinned, let known = audit?.keyStates.fingerprint(of: settings.keyID), known != fingerprint {
            return
                "The key's fingerprint is \(fingerprint), but the register has \(known): this is another key. If Apple gave "
                + "this one the ID \(settings.keyID), pin it with publicKey."
        }
        if let known = self.fingerprint, known != fingerprint {
            return
                "The key's fingerprint is \(fingerprint), but that of the key at the other places is \(known): this is another "
                + "key."
        }
        return nil
    }

    /// Refuses an open key that is not the one in the register, which may be read after the key was opened.
    func compareWithRegister() {
        guard isAnother else { return }
        for replica in replicas {
            if let key = replica.openKey?.key, let difference = difference(of: key) {
                replica.dropKey()
                fail(replica, with: .unfit(difference))
            }
        }
    }

    func fail(_ replica: KeyReplica, with error: KeyError) {
        // A closed backend belongs to a gateway that stops, or to an earlier configuration.
        if replica.fail(with: error), error != .closed {
            logger.error("The key cannot sign: \(error)", metadata: name(replica))
        }
        recordState(at: replica)
    }

    func note(_ health: KeyBackendHealth, at replica: KeyReplica) {
        replica.note(health)
        recordState(at: replica)
    }

    func note(_ proof: Result<ContinuousClock.Instant, KeyError>, at replica: KeyReplica) {
        let before = replica.state
        replica.note(proof)
        let after = replica.state
        recordState(at: replica)
        guard before != after else { return }
        let name = name(replica)
        switch after {
        case .ready: logger.info("The key is ready", metadata: name)
        case .degraded(let why): logger.warning("The key is degraded: \(why)", metadata: name)
        case .down(.closed), .refused(.closed): break
        case .down(let error), .refused(let error): logger.error("The key cannot sign: \(error)", metadata: name)
        }
    }

    /// Records each new state of the key or of one of its places once. A place has no state before its first proof.
    ///
    /// - Parameter replica: the place whose state may have changed.
    func recordState(at replica: KeyReplica) {
        guard let audit, replicas.allSatisfy(\.isJudged) else { return }
        let state = state
        let names = only == nil ? [state.name] + replicas.map(\.state.name) : [state.name]
        let before = recorded.withLock { recorded in
            defer { recorded = names }
            return recorded
        }
        guard before != names else { return }
        let lost = only == nil ? newlyLost(names, before) : nil
        audit.log.note(event(state: state.name, reason: state.reason, at: lost ?? replica))
    }

    /// The first place that cannot sign and has another state than before.
    ///
    /// - Parameter names: as in `recorded`.
    private func newlyLost(_ names: [String], _ before: [String]?) -> KeyReplica? {
        zip(replicas, names.dropFirst()).enumerated().first { index, place in
            !place.0.state.canSign && before?.dropFirst(index + 1).first != place.1
        }?.element.0
    }

    /// The names of the key, for log lines; of a key with several places, also that of the place.
    func name(_ replica: KeyReplica) -> Logger.Metadata {
        var name: Logger.Metadata = ["keyId": "\(settings.keyID)", "issuerId": "\(issuerID)"]
        if only == nil { name["replica"] = "\(replica.name)" }
        return name
    }
}
