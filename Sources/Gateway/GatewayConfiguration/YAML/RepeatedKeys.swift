/// Finds keys that a mapping has twice. Yams stops at the first of them, and gives its position but not its path. So
/// this type marks every repeated word that may be a key, which makes the words different. In a second reading, the
/// reader finds all keys with their paths, and all other faults.
struct RepeatedKeys {
    /// Private-use characters, which no file for people contains (Unicode 16.0 §23.5). Planes 15 and 16 have more than
    /// the 104,857 keys that a mebibyte can hold. A mark is one column wide, like the character that it replaces.
    private static let marks: [ClosedRange<UInt32>] = [0xF0000...0xFFFFD, 0x100000...0x10FFFD]

    /// The original character for each mark.
    private var originals: [Unicode.Scalar: Unicode.Scalar] = [:]

    /// Replaces the first character of each such word, so that no column changes. Nil if that is not possible.
    mutating func mark(_ text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        guard originals.isEmpty, !scalars.contains(where: Self.isMark) else { return nil }
        let words = Self.words(in: scalars)
        var counts: [ArraySlice<Unicode.Scalar>: Int] = [:]
        for word in words { counts[scalars[word], default: 0] += 1 }
        var marks = Self.marks.joined().makeIterator()
        let repeated = words.filter { counts[scalars[$0], default: 0] > 1 }
        counts = [:]
        for word in repeated {
            guard let mark = marks.next().flatMap(Unicode.Scalar.init) else { return nil }
            originals[mark] = scalars[word.lowerBound]
            scalars[word.lowerBound] = mark
        }
        guard !repeated.isEmpty else { return nil }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    func original(of text: String) -> String {
        guard !originals.isEmpty, text.unicodeScalars.contains(where: Self.isMark) else { return text }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text.unicodeScalars.map { originals[$0] ?? $0 })
        return String(view)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { marks.contains { $0.contains(scalar.value) } }

    /// The words before a colon, also with a quotation mark and spaces between. Some are not keys: the reader restores
    /// the original of a marked value.
    private static func words(in scalars: [Unicode.Scalar]) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var position = 0
        while position < scalars.count {
            guard isLetter(scalars[position]) else {
                position += 1
                continue
            }
            let start = position
            while position < scalars.count, isLetter(scalars[position]) { position += 1 }
            var end = position
            if end < scalars.count, scalars[end] == "\"" || scalars[end] == "'" { end += 1 }
            while end < scalars.count, scalars[end] == " " { end += 1 }
            let isKey = end < scalars.count && scalars[end] == ":"
            // A mark in a tag, an anchor or an escape would cause another error.
            let isPlain = start == 0 || !["!", "&", "*", "%", "\\"].contains(scalars[start - 1])
            // A hyphen may begin an element of a list.
            if isKey, isPlain, scalars[start] != "-" { words.append(start..<position) }
        }
        return words
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
        default: false
        }
    }
}
