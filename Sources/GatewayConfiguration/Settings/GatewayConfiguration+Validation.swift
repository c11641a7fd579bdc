extension GatewayConfiguration {
    /// How much of a request is checked before it is signed.
    public struct Validation: Hashable, Sendable {
        public enum AdvancedCommerce: String, CaseIterable, Sendable {
            /// Everything that Apple documents for the operation.
            case full
            /// A JSON object with `operation`, `version` and `requestInfo`; the rest is left to Apple.
            case envelope
        }

        public internal(set) var advancedCommerce: AdvancedCommerce = .full

        /// The defaults.
        public init() {}
    }
}
