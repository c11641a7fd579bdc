internal import PKCS11
internal import SigningKit

/// With what, as whom, and by whose order a token is logged in to.
struct Credentials: Sendable {
    /// Nil where the configuration names none: it is typed on the token itself then.
    let pin: Secret?
    let user: Session.User
    /// When a person last asked for the token to be opened; nil allows no second attempt of a login that was unclear.
    let orderedAt: ContinuousClock.Instant?

    init(pin: Secret?, user: Session.User = .normal, orderedAt: ContinuousClock.Instant? = nil) {
        (self.pin, self.user, self.orderedAt) = (pin, user, orderedAt)
    }

    func withPIN<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let pin else { return try body(nil) }
        return try pin.withBytes { bytes throws(Failure) in try body(bytes) }
    }
}
