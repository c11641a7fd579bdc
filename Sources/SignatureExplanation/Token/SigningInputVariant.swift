/// Bytes that a token's signature may be over, and the mistake that this would be; none for the right ones.
struct SigningInputVariant: Sendable {
    let bytes: [UInt8]
    let finding: Finding?

    init(_ bytes: [UInt8], _ code: FindingCode, _ message: String) {
        self.bytes = bytes
        finding = Finding(code, .error, .proven, message)
    }

    init(right bytes: [UInt8]) {
        self.bytes = bytes
        finding = nil
    }
}
