import Logging
import Metrics
import SigningKit

/// If a key fails soon after it took another's place, that one comes back by itself.
extension KeyOffice {
    /// Between two looks; a look costs a few words of memory.
    private static let interval = Duration.milliseconds(100)
    /// After a reversal that could not be made.
    private static let pause = Duration.seconds(5)

    func watch(_ new: String, insteadOf old: String, for seconds: Int) {
        guard let issuerID = board.records[new]?.issuerID else { return }
        watches.set(
            Task { [weak self] in
                let end = ContinuousClock.now + .seconds(seconds)
                while !Task.isCancelled, .now < end {
                    guard let self else { return }
                    if let trouble = self.trouble(of: new) {
                        if await self.revert(new, to: old, because: trouble) { return }
                        // Each try holds requests back for a moment.
                        try? await Task.sleep(for: Self.pause)
                    }
                    try? await Task.sleep(for: Self.interval)
                }
            }, for: issuerID)
    }

    /// Why the key does not sign as it should; nil while it does.
    private func trouble(of keyID: String) -> String? {
        guard board.records[keyID]?.state == .active else { return nil }
        guard let slot = slot(keyID) else { return "The configuration does not name it any more." }
        switch slot.state {
        case .ready: return nil
        case .degraded(let reason): return slot.hasMadeBadSignature ? reason : nil
        case .down, .refused: return slot.state.reason
        }
    }

    /// - Returns: whether there is nothing more to watch.
    private func revert(_ new: String, to old: String, because trouble: String) async -> Bool {
        do throws(KeyLifeRefusal) {
            guard board.records[new]?.state == .active, board.records[old]?.state == .retiring else { return true }
            // Where the old one does not sign either, nothing is gained.
            let proof = FreshProof(keyID: old, fingerprint: try await requireProof(of: old))
            return try await inTurn { () throws(KeyLifeRefusal) in
                guard let failed = board.records[new], failed.state == .active, let before = board.records[old],
                    before.state == .retiring
                else { return true }
                try require(proof, of: old)
                try rules.requireOwnKey(proof.fingerprint, of: old, amongLostOnly: true)
                let hand = Hand(actor: Self.gatewayName, reason: "\(new) failed after it was activated: \(trouble)")
                _ = try await changeOver(issuerID: failed.issuerID) { time -> [KeyLifeRecord] in
                    var suspended = failed
                    suspended.suspendedFrom = .staged
                    return [
                        self.change(before, to: .active, .revert, hand, at: time),
                        self.change(suspended, to: .suspended, .suspend, hand, at: time),
                    ]
                }
                reversals.increment()
                logger.critical(
                    "\(old) is active again: \(new) failed after it was activated. \(trouble)",
                    metadata: ["keyId": "\(new)"])
                return true
            }
        } catch {
            return false
        }
    }
}
