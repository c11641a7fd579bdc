extension GatewayConfiguration {
    /// Rehearsals of what can happen to keys.
    public struct Drills: Sendable {
        /// Where their records are kept; a directory, made when it is not there.
        public let directory: File
    }
}
