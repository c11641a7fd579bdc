/// A setting that was given. Rules for two settings must distinguish an absent setting from an invalid one.
struct OptionalSetting<Value> {
    /// Nil if the value is invalid; its fault is already recorded.
    let value: Value?
    let origin: ConfigurationOrigin
}

extension OptionalSetting: Sendable where Value: Sendable {}
