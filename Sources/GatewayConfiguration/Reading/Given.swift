/// A setting that is there: rules that look at two settings at once must tell "not given" from "given, but wrong".
struct Given<Value> {
    /// Nil when it cannot be used; the fault is known already.
    let value: Value?
    let origin: ConfigurationOrigin
}

extension Given: Sendable where Value: Sendable {}
