import AuditKit
import AuditLog
import Crypto
import SigningKit

/// Audit entries: the gateway releases no signature without one.
extension Dispatcher {
    /// Throws if the audit log cannot be written, so that no key makes a signature that cannot be released.
    func requireRecord() throws(GatewayError) {
        guard let audit, case .unwritable(let error) = audit.state else { return }
        audit.noteRefused()
        throw .unrecorded(error)
    }

    func entry(
        for facts: SigningFacts, with key: ServedApp.Key, subject: OfferSubject, item: Item, _ request: ResolvedRequest
    ) -> AuditEntry? {
        guard let audit else { return nil }
        let evidence = key.handle.evidence
        return audit.entry(
            .signature(
                client: request.client.name, app: request.app.bundleID, feature: request.featureID,
                keyID: key.identity.keyID, fingerprint: evidence.fingerprint, tokenSerial: evidence.tokenSerial,
                subject: subject, user: subject.user.map(audit.hash), digest: facts.digest, nonce: facts.nonce,
                requestID: request.identity.id, item: item.index, keyMicroseconds: facts.took.microseconds,
                requestMicroseconds: (.now - request.identity.begun).microseconds))
    }

    /// The entry of an item. A refused single request gets its entry from `RefusalRecorder`, with the refusals of earlier
    /// stages.
    func entry(
        of signed: Result<SignedAnswer, GatewayError>, item: Item, _ request: ResolvedRequest
    ) -> AuditEntry? {
        switch signed {
        case .success(let answer): return answer.entry
        case .failure(.unrecorded): return nil
        case .failure(let error):
            guard let audit, let index = item.index, let reason = item.reason?(error) else { return nil }
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

    func record(_ entries: [AuditEntry], answers: Int) async throws(GatewayError) {
        guard let audit, !entries.isEmpty else { return }
        do { try await audit.record(entries, answers: answers) } catch { throw .unrecorded(error) }
    }
}

/// The data of a signature for its audit entry.
struct SigningFacts {
    let digest: SHA256Digest
    let nonce: Nonce
    /// How long the key took.
    let took: Duration
}

extension Duration {
    var microseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
    }
}
