import Encodings
import Testing

@Suite("Hexadecimal digits and percent-encoding")
struct HexadecimalTests {
    @Test("Hexadecimal digits of either case decode to the bytes that they encode")
    func roundTrip() {
        let bytes = Array(UInt8.min...UInt8.max)
        let digits = Hexadecimal.encode(bytes)
        #expect(digits.hasPrefix("000102") && digits.hasSuffix("fdfeff"))
        #expect(Hexadecimal.decode(Array(digits.utf8)) == bytes)
        #expect(Hexadecimal.decode(Array(Hexadecimal.encode(bytes, uppercase: true).utf8)) == bytes)
    }

    @Test("Other texts are no hexadecimal digits", arguments: ["", "0", "0g", "g0", "000", " 00", "é0"])
    func refused(_ text: String) {
        #expect(Hexadecimal.decode(Array(text.utf8)) == nil)
    }

    @Test("An encoded text decodes to itself", arguments: ["", "a b", "é%+", "/?#[]@", "\u{2063}"])
    func percent(_ text: String) {
        #expect(PercentEncoding.decode(PercentEncoding.encode(text).utf8) == text)
    }

    @Test(
        "A percent sign without two digits, and bytes that are not UTF-8, are refused",
        arguments: ["%", "%4", "%4g", "%ff"])
    func malformed(_ text: String) {
        #expect(PercentEncoding.decode(text.utf8) == nil)
    }
}
