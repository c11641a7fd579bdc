extension StringProtocol {
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
