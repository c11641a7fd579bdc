/// Keys that a mapping has twice. Yams stops at the first of them, says where it stands but not in what, and reads no
/// further. So every word of the text that is there twice and may be a key gets a mark that makes it another word, the text
/// is read once more, and the reader finds all keys with their paths, and all that is wrong elsewhere.
struct RepeatedKeys {
    /// Characters for private use: no file that is meant for people holds them (Unicode 16.0 §23.5). Planes 15 and 16, so
    /// more than the 104,857 keys of a mebibyte at most, and each is one column wide, as what it replaces.
    private static let marks: [ClosedRange<UInt32>] = [0xF0000...0xFFFFD, 0x100000...0x10FFFD]

    /// What stands in the file for each mark.
    private var originals: [Unicode.Scalar: Unicode.Scalar] = [:]

    /// The text with the first character of each such word replaced, so that nothing moves; nil where that cannot be done.
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

    /// What is in the file where the reader sees `text`.
    func original(of text: String) -> String {
        guard !originals.isEmpty, text.unicodeScalars.contains(where: Self.isMark) else { return text }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text.unicodeScalars.map { originals[$0] ?? $0 })
        return String(view)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { marks.contains { $0.contains(scalar.value) } }

    /// The words that a colon follows, perhaps behind a quotation mark and spaces. Some of them are no keys: what is marked
    /// in a value is put right when the value is read.
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
            // A mark in a tag, an anchor or an escape would be an error of its own.
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
