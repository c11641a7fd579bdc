/// What a feature wants signed, and what it will make of the signature.
public struct Draft<Output: Sendable>: Sendable {
    /// Exactly the bytes whose SHA-256 is signed.
    public let signingInput: [UInt8]
    /// Turns the signature into the answer. Total: once there is a signature, there is an answer.
    public let seal: @Sendable (P256Signature) -> Output

    public init(signingInput: [UInt8], seal: @escaping @Sendable (P256Signature) -> Output) {
        self.signingInput = signingInput
        self.seal = seal
    }
}
