import SigningKit
import Testing

@Suite("Nonces and timestamps")
struct ValueTests {
    @Test("a nonce is a lower-case version 4 UUID for any random bits")
    func nonce() {
        #expect(Nonce(random: 0, 0).description == "00000000-0000-4000-8000-000000000000")
        #expect(Nonce(random: .max, .max).description == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(
            Nonce(random: 0x20FB_A8A0_2B80_4A7D, 0xA17F_85C1_8547_27F8).description
                == "20fba8a0-2b80-4a7d-a17f-85c1854727f8")
        #expect(Nonce(random: 0x0123_4567_89AB_CDEF, 0).text == Array("01234567-89ab-4def-8000-000000000000".utf8))
    }

    @Test("a nonce has the right version and variant for every bit pattern")
    func versionAndVariant() {
        for bit in 0..<64 {
            for pattern in [UInt64(1) << UInt64(bit), ~(UInt64(1) << UInt64(bit))] {
                let text = Nonce(random: pattern, pattern).text
                #expect(text.count == 36)
                #expect(text[14] == UInt8(ascii: "4"))
                #expect(Array("89ab".utf8).contains(text[19]))
            }
        }
    }

    @Test("every random bit changes the nonce")
    func everyBitCounts() {
        let texts = Set(
            (0..<64).flatMap { bit in
                [Nonce(random: 1 << UInt64(bit), 0).description, Nonce(random: 0, 1 << UInt64(bit)).description]
            })
        // Each of the 122 random bits gives another text. The six fixed bits all give the nonce of zeros.
        #expect(texts.count == 122 + 1)
    }

    @Test(
        "a timestamp's seconds are rounded down",
        arguments: [
            (0, 0), (999, 0), (1000, 1), (1_698_148_900_999, 1_698_148_900), (-1, -1), (-1000, -1), (-1001, -2),
            (Int64.max, 9_223_372_036_854_775), (Int64.min, -9_223_372_036_854_776),
        ] as [(Int64, Int64)])
    func seconds(_ milliseconds: Int64, _ seconds: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).seconds == seconds)
    }

    @Test("timestamps are ordered by time")
    func order() {
        #expect(Timestamp(milliseconds: -1) < Timestamp(milliseconds: 0))
        #expect(!(Timestamp(milliseconds: 1) < Timestamp(milliseconds: 1)))
    }
}
