/// Changes the case of ASCII letters only, independently of the locale. A UUID has no other letters.
enum ASCIICase {
    static func lower(_ text: String) -> String {
        let bytes = text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
