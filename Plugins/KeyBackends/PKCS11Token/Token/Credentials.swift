internal import PKCS11
internal import SigningKit

/// The PIN and the user of a token login, and the time of the operator's order.
struct Credentials: Sendable {
    /// Nil if the configuration names no PIN. The operator then enters it on the token itself.
    let pin: Secret?
    let user: Session.User
    /// When the operator last ordered the token to be opened. Nil allows no second attempt after an unclear login.
    let reopenOrderedAt: ContinuousClock.Instant?

    init(pin: Secret?, user: Session.User = .normal, reopenOrderedAt: ContinuousClock.Instant? = nil) {
        (self.pin, self.user, self.reopenOrderedAt) = (pin, user, reopenOrderedAt)
    }

    func withPIN<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let pin else { return try body(nil) }
        return try pin.withBytes { bytes throws(Failure) in try body(bytes) }
    }
}
