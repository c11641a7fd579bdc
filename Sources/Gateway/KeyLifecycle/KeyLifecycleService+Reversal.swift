import Logging
import Metrics
import Signing
import SigningKit
import Synchronization

/// Reversal: if a key fails soon after its activation, the gateway activates the previous key again.
extension KeyLifecycleService {
    /// The time between two checks. A check is cheap.
    private static let interval = Duration.milliseconds(100)
    /// The pause after a failed reversal.
    private static let pause = Duration.seconds(5)

    func watch(_ new: String, insteadOf old: String, for seconds: Int) {
        guard let issuerID = stateCache.records[new]?.issuerID else { return }
        let monitor = Task { [weak self] in
            let end = ContinuousClock.now + .seconds(seconds)
            while !Task.isCancelled, .now < end {
                guard let self else { return }
                if let trouble = self.trouble(of: new) {
                    if await self.revert(new, to: old, because: trouble) { return }
                    // Each attempt makes requests wait for a moment.
                    try? await Task.sleep(for: Self.pause)
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
        activationMonitors.withLock { $0.updateValue(monitor, forKey: issuerID) }?.cancel()
    }

    /// Why the active key fails; nil while it does not.
    private func trouble(of keyID: String) -> String? {
        guard stateCache.records[keyID]?.state == .active else { return nil }
        guard let handle = handle(keyID) else { return "The configuration does not name it any more." }
        switch handle.state {
        case .ready: return nil
        case .degraded(let reason): return handle.hasMadeBadSignature ? reason : nil
        case .down, .refused: return handle.state.reason
        }
    }

    /// - Returns: whether monitoring can end.
    private func revert(_ new: String, to old: String, because trouble: String) async -> Bool {
        do throws(KeyLifecycleRefusal) {
            guard stateCache.records[new]?.state == .active, stateCache.records[old]?.state == .retiring else {
                return true
            }
            // Without a proof of the old key, a reversal is useless.
            let proof = try await requireProof(of: old)
            // After a crash of a signer that holds both keys, the new one may sign again, too.
            if let handle = handle(new), !handle.hasMadeBadSignature, await handle.prove() == nil { return false }
            return try await inTurn { () throws(KeyLifecycleRefusal) in
                guard let failed = stateCache.records[new], failed.state == .active,
                    let before = stateCache.records[old],
                    before.state == .retiring, !rules.overdue.contains(old)
                else { return true }
                try require(proof, of: old)
                try rules.requireOwnKey(proof, of: old, amongLostOnly: true)
                let context = ChangeContext(
                    actor: Self.gatewayName, reason: "\(new) failed after it was activated: \(trouble)")
                _ = try await changeOver(issuerID: failed.issuerID) { time -> [KeyLifecycleRecord] in
                    var suspended = self.change(failed, to: .suspended, .suspend, context, at: time)
                    suspended.suspendedFrom = .staged
                    return [self.change(before, to: .active, .revert, context, at: time), suspended]
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
