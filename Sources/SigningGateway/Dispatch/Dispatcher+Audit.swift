import AuditKit
import Crypto
import SigningKit

/// No record, no signature.
extension Dispatcher {
    /// Whether what is signed now could be recorded: a key is not asked for signatures that nobody will see.
    func requireRecord() throws(GatewayError) {
        guard let audit, case .unwritable(let error) = audit.state else { return }
        audit.noteRefused()
        throw .unrecorded(error)
    }

    func entry(
        for facts: SigningFacts, with key: ServedApp.Key, along route: SigningRoute, subject: OfferSubject,
        item: BatchItem?
    ) -> CanonicalEntry? {
        guard let audit else { return nil }
        let evidence = key.slot.evidence
        return audit.entry(
            .signature(
                SignatureRecord(
                    client: route.client.name, app: route.app.bundleID, feature: route.featureID,
                    keyID: key.identity.keyID, fingerprint: evidence.fingerprint, tokenSerial: evidence.tokenSerial,
                    subject: subject, user: subject.user.map(audit.hash), digest: facts.digest, nonce: facts.nonce,
                    requestID: route.request.id, item: item?.index, keyMicroseconds: facts.took.microseconds,
                    requestMicroseconds: (.now - route.request.begun).microseconds)))
    }

    func refusal(_ error: GatewayError, along route: SigningRoute, item: Int?) -> RefusalRecord {
        let (reason, status) = error.refusal
        return RefusalRecord(
            client: route.client.name, app: route.app.bundleID, feature: route.featureID, keyID: route.wantedKeyID,
            reason: reason, status: status, requestID: route.request.id, item: item)
    }

    /// Returns when an answer may go: its entry is durable.
    func release(_ pending: PendingRelease) async throws(GatewayError) {
        defer { pending.turn?.end() }
        if let entry = pending.entry { try await record([entry]) }
    }

    func record(_ entries: [CanonicalEntry], answers: Int? = nil) async throws(GatewayError) {
        guard let audit, !entries.isEmpty else { return }
        do { try await audit.record(entries, answers: answers) } catch { throw .unrecorded(error) }
    }
}

/// A signature, and what is known of it besides its route.
struct SigningFacts {
    let signature: P256Signature
    let digest: SHA256Digest
    let nonce: Nonce
    /// How long the key took; measured for the record.
    let took: Duration
}

extension Duration {
    var microseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
    }
}
