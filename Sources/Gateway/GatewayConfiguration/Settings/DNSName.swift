/// Host names (RFC 1123 §2.1): labels of letters, digits and hyphens.
enum DNSName {
    /// False for a name that ends in a number, which would be read as an IPv4 address.
    static func isName(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.allSatisfy(isLabel), let last = labels.last else { return false }
        return last.contains { $0.isLetter }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.hasOnlyLetters(or: "-")
    }
}

extension StringProtocol {
    var hasControlCharacters: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }

    /// Whether the text has only lower-case letters, digits and these characters, all of them ASCII.
    func hasOnlyLowercase(or others: String) -> Bool {
        let others = Array(others.utf8)
        return utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || others.contains(byte)
        }
    }

    /// Whether the text has only letters, digits and these characters, all of them ASCII.
    func hasOnlyLetters(or others: String) -> Bool {
        hasOnlyLowercase(or: others + "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    }
}
