import Yams

/// Keys that a mapping has twice. Yams stops at the first of them, says where it stands but not in what, and reads no
/// further. So the first occurrence gets a mark that makes it another key, the text is read again, and the reader finds
/// both with their paths, and all that is wrong elsewhere.
struct RepeatedKeys {
    /// More than this is not a slip, and each costs a reading.
    private static let limit: UInt32 = 64
    /// Characters for private use: no file that is meant for people holds them (Unicode 16.0 §23.5).
    private static let marks: ClosedRange<UInt32> = 0xF0000...0xFFFFD

    /// What begins something else than a name: to replace it would change more than one key.
    private static let indicators: Set<Unicode.Scalar> = ["\"", "'", "&", "!", "*", "[", "{", "\n"]

    /// What a marked key was called before.
    private var names: [Unicode.Scalar: String] = [:]

    /// The text with the first character of the key at `mark` replaced, so that nothing moves; nil where that cannot be
    /// done.
    mutating func mark(_ name: String, at mark: Mark, in text: String) -> String? {
        if names.isEmpty, text.unicodeScalars.contains(where: { Self.marks.contains($0.value) }) { return nil }
        let count = UInt32(names.count)
        guard count < Self.limit, let scalar = Unicode.Scalar(Self.marks.lowerBound + count) else { return nil }
        var scalars = Array(text.unicodeScalars)
        guard var position = Self.position(of: mark, in: scalars) else { return nil }
        if scalars[position] == "\"" || scalars[position] == "'" { position += 1 }
        guard position < scalars.count, !Self.indicators.contains(scalars[position]) else { return nil }
        scalars[position] = scalar
        names[scalar] = name
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// What a key is called in the file.
    func name(of key: String) -> String {
        key.unicodeScalars.first.flatMap { names[$0] } ?? key
    }

    private static func position(of mark: Mark, in scalars: [Unicode.Scalar]) -> Int? {
        var (line, start) = (1, 0)
        while line < mark.line {
            guard let end = scalars[start...].firstIndex(of: "\n") else { return nil }
            (line, start) = (line + 1, end + 1)
        }
        let position = start + mark.column - 1
        return scalars.indices.contains(position) ? position : nil
    }
}
