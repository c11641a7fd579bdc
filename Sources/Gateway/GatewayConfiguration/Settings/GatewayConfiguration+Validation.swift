extension GatewayConfiguration {
    /// The checks of a request before it is signed.
    public struct Validation: Hashable, Sendable {
        public enum AdvancedCommerce: String, CaseIterable, Sendable {
            /// Everything that Apple documents for the operation.
            case full
            /// A JSON object with `operation`, `version` and `requestInfo`; only Apple checks the rest.
            case envelope
        }

        public internal(set) var advancedCommerce: AdvancedCommerce = .full

        public init() {}
    }
}
