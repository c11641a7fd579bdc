/// The signed text of a legacy signature, in parts that each mistake can change.
struct LegacyText: Sendable {
    /// One for each `LegacyField`.
    var fields: [String]
    /// The joined fields, in order.
    var order = LegacyField.allCases
    var separator: [UInt8] = Self.rightSeparator
    /// The position in `order` of a field without a separator after it.
    var missingSeparatorIndex: Int?
    var hasLeadingSeparator = false
    var hasTrailingSeparator = false
    /// Changes the joined bytes before the hash.
    var finish: (@Sendable ([UInt8]) -> [UInt8])?
    var digest = DigestForm.sha256

    /// U+2063 INVISIBLE SEPARATOR in UTF-8.
    static let rightSeparator: [UInt8] = [0xE2, 0x81, 0xA3]

    /// The text that Apple builds from an answer (Apple: "Generating a signature for promotional offers").
    init(_ answer: LegacyAnswer) {
        let user =
            switch answer.user {
            case .nobody: ""
            case .appAccountToken(let token): token.lowercased()
            case .applicationUsername(let name): name
            }
        fields = [
            answer.bundleID, answer.keyID, answer.productID, answer.offerID, user, answer.nonce.lowercased(),
            LegacyTimestamp(answer.timestamp).map { String($0.whole) } ?? answer.timestamp,
        ]
    }

    subscript(field: LegacyField) -> String {
        get { fields[field.rawValue] }
        set { fields[field.rawValue] = newValue }
    }

    /// The bytes before the hash.
    var bytes: [UInt8] {
        var bytes: [UInt8] = hasLeadingSeparator ? separator : []
        for (position, field) in order.enumerated() {
            bytes.append(contentsOf: self[field].utf8)
            if position < order.count - 1, position != missingSeparatorIndex { bytes.append(contentsOf: separator) }
        }
        if hasTrailingSeparator { bytes.append(contentsOf: separator) }
        return finish?(bytes) ?? bytes
    }
}
