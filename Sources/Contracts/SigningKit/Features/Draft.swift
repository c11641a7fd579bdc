/// The bytes that a feature wants signed, and the conversion of the signature into a response.
public struct Draft<Output: Sendable>: Sendable {
    /// The bytes whose SHA-256 is signed.
    public let signingInput: [UInt8]
    /// Makes the response from the signature. It cannot fail.
    public let makeAnswer: @Sendable (P256Signature) -> Output

    public init(signingInput: [UInt8], makeAnswer: @escaping @Sendable (P256Signature) -> Output) {
        self.signingInput = signingInput
        self.makeAnswer = makeAnswer
    }
}
