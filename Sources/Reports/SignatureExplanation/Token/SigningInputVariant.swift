/// A possible signing input of a token, with the finding about its mistake; nil for the correct one.
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
