import AuditKit
import Logging
public import Signing
import SigningKit
import Synchronization

/// The PINs that tokens refused, in the register of the fleet.
extension KeyLifecycleService {
    /// Records the refused PINs of this gateway, one after the other.
    func recordRefusedPINs(in fleet: FleetRegister) {
        guard !fleet.unrecordedPINs.isEmpty, stateCache.isLoaded,
            recordingPIN.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return }
        Task {
            var isDone = true
            for pin in fleet.unrecordedPINs {
                do throws(KeyLifecycleRefusal) {
                    try await record(pin)
                    fleet.noteRecorded(pin)
                } catch {
                    isDone = false
                    logger.error(
                        "A refused PIN of the token \(pin.token) could not be recorded for the fleet yet. \(error)")
                }
            }
            if !isDone { try? await Task.sleep(for: Self.pinPause) }
            recordingPIN.store(false, ordering: .relaxed)
        }
    }

    /// After an error, before the next try.
    private static let pinPause = Duration.seconds(5)

    private func record(_ pin: RefusedPIN) async throws(KeyLifecycleRefusal) {
        try await inTurn { () throws(KeyLifecycleRefusal) in
            guard let refused = pin.added(to: stateCache.refusedPINs) else { return }
            var transaction = RegisterTransaction()
            transaction.set(refused, pin.entry(by: Self.gatewayName))
            try await commit(transaction)
        }
    }

    /// Allows the gateways of the fleet to send PINs again that a token refused.
    ///
    /// - Parameter token: as in the overview of the fleet.
    /// - Returns: the token as it was before.
    public func forgetRefusedPINs(
        of token: String, reason: String, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> TokenWithRefusedPINs {
        _ = try requireFleet()
        try Self.require(reason: reason)
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            let known = TokenWithRefusedPINs.list(stateCache.refusedPINs)
            guard let forgotten = known.first(where: { $0.token.hasSameBytes(as: token) }) else {
                let names = known.map(\.token).joined(separator: ", ")
                throw KeyLifecycleRefusal(
                    .unknown,
                    "No PIN of a token \(token) is remembered as refused. "
                        + (known.isEmpty
                            ? "There is no token with refused PINs." : "There are refused PINs of \(names)."))
            }
            var transaction = RegisterTransaction()
            let entry = KeyLifecycleEntry(
                .changed, action: "forget-refused-pins", issuerID: "", keyID: "", actor: actor.name, reason: reason,
                evidence: ["token": token])
            let time = now
            let after = stateCache.refusedPINs.map { pin in
                var pin = pin
                if pin.token.hasSameBytes(as: token) { pin.forgotten = pin.forgotten ?? time }
                return pin
            }
            transaction.set(after, entry)
            try await commit(transaction)
            return forgotten
        }
    }
}
