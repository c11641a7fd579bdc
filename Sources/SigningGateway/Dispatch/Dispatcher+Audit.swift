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

    /// Chooses the key, and lets the log know that an entry is about to come. Not for the items of a batch, which are recorded
    /// when all are signed.
    func announced<Value>(
        _ item: Int?, along route: SigningRoute, _ body: (ServedApp.Key) async throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        guard item == nil, let queue = audit?.queue else { return try await withKey(along: route, body) }
        queue.expect()
        do throws(GatewayError) {
            let value = try await withKey(along: route, body)
            queue.noteSigned()
            return value
        } catch {
            queue.expectNoMore()
            throw error
        }
    }

    /// - Parameter item: position in a batch.
    func entry(
        for draft: SigningFacts, with key: ServedApp.Key, along route: SigningRoute, subject: OfferSubject, item: Int?
    ) -> CanonicalEntry? {
        guard let audit else { return nil }
        let evidence = key.slot.evidence
        return audit.entry(
            .signature(
                SignatureRecord(
                    client: route.client.name, app: route.app.bundleID, feature: route.featureID,
                    keyID: key.identity.keyID, fingerprint: evidence.fingerprint, tokenSerial: evidence.tokenSerial,
                    subject: subject, user: subject.user.map(audit.hash), digest: draft.digest, nonce: draft.nonce,
                    requestID: route.request.id, item: item, keyMicroseconds: draft.signed.microseconds,
                    requestMicroseconds: (.now - route.request.begun).microseconds)))
    }

    func refusal(_ error: GatewayError, along route: SigningRoute, item: Int?) -> RefusalRecord {
        let (reason, status) = error.refusal
        return RefusalRecord(
            client: route.client.name, app: route.app.bundleID, feature: route.featureID, keyID: route.app.keyID,
            reason: reason, status: status, requestID: route.request.id, item: item)
    }

    /// Lets an answer go once its entry is durable.
    func release<Answer>(_ held: HeldAnswer<Answer>) async throws(GatewayError) -> Answer {
        if let entry = held.entry { try await record([entry]) }
        return held.answer
    }

    func record(_ entries: [CanonicalEntry]) async throws(GatewayError) {
        guard let audit, !entries.isEmpty else { return }
        do { try await audit.record(entries) } catch { throw .unrecorded(error) }
    }
}

/// What is known of a signature besides its route.
struct SigningFacts {
    let digest: SHA256Digest
    let nonce: Nonce
    /// How long the key took.
    let signed: Duration
}

extension Duration {
    var microseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
    }
}
