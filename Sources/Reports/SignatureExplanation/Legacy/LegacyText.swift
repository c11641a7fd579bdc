/// The signed text of a legacy signature, in parts that each mistake can change.
struct LegacyText: Sendable {
    /// One for each `LegacyField`.
    var fields: [String]
    /// The joined fields, in order.
    var order = LegacyField.allCases
    /// U+2063 INVISIBLE SEPARATOR in UTF-8.
    var separator: [UInt8] = [0xE2, 0x81, 0xA3]
    /// The position in `order` of a field without a separator after it.
    var missingSeparatorIndex: Int?
    var hasLeadingSeparator = false
    var hasTrailingSeparator = false
    /// Changes the joined bytes before the hash.
    var finish: (@Sendable ([UInt8]) -> [UInt8])?
    var digestForm = DigestForm.sha256

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

    var digest: RawDigest { digestForm.apply(bytes) }
}

/// A known mistake in building the signed text of a legacy signature.
struct KnownMistake: Sendable {
    /// The frequency of a mistake. The search tries common mistakes first, and in more combinations.
    enum Rank: Int, Sendable {
        case common, plausible, rare
    }

    /// A part of the text that a mistake changes. The search combines only mistakes without a common part.
    enum Part: Hashable, Sendable {
        case field(LegacyField), order, separator, whole, digest
    }

    let finding: Finding
    let rank: Rank
    let parts: Set<Part>
    let apply: @Sendable (inout LegacyText) -> Void

    init(
        _ code: FindingCode, _ rank: Rank, _ parts: Set<Part>, in field: String? = nil, _ message: String,
        apply: @escaping @Sendable (inout LegacyText) -> Void
    ) {
        finding = Finding(code, in: field, message)
        self.rank = rank
        self.parts = parts
        self.apply = apply
    }
}
