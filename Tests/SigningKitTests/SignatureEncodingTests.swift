import Crypto
import SigningKit
import Testing

@Suite("Signature encodings")
struct SignatureEncodingTests {
    @Test("DER strips leading zeros and adds one before a high bit", arguments: Self.integers)
    func extremes(_ integer: Integer) throws {
        for other in Self.integers {
            let signature = try #require(P256Signature(rawRepresentation: integer.raw + other.raw))
            let der: [UInt8] = [0x30, UInt8(integer.der.count + other.der.count)] + integer.der + other.der
            #expect(signature.derRepresentation == der)
            #expect(P256Signature(derRepresentation: der) == signature)
        }
    }

    @Test("a DER signature has 8 to 72 bytes")
    func lengths() throws {
        let zero = try #require(P256Signature(rawRepresentation: [UInt8](repeating: 0, count: 64)))
        let largest = try #require(P256Signature(rawRepresentation: [UInt8](repeating: 0xFF, count: 64)))
        #expect(zero.derRepresentation.count == 8)
        #expect(largest.derRepresentation.count == 72)
    }

    @Test("the DER encoding agrees with swift-crypto on signatures of a real key")
    func besideCrypto() throws {
        let key = P256.Signing.PrivateKey()
        for number in 0..<500 {
            let theirs = try key.signature(for: SHA256.hash(data: [UInt8(number & 0xFF), UInt8(number >> 8)]))
            let ours = try #require(P256Signature(rawRepresentation: theirs.rawRepresentation))
            #expect(ours.derRepresentation == Array(theirs.derRepresentation))
            #expect(P256Signature(derRepresentation: theirs.derRepresentation) == ours)
            #expect(ours.bytes == Array(theirs.rawRepresentation))
        }
    }

    @Test("a raw signature must have 64 bytes", arguments: [0, 1, 63, 65, 128])
    func rawLength(_ count: Int) {
        #expect(P256Signature(rawRepresentation: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test("the parser refuses every deviation from DER", arguments: Self.notDER)
    func strictDER(_ der: [UInt8]) {
        #expect(P256Signature(derRepresentation: der) == nil)
    }

    @Test("the parser refuses truncated DER and trailing bytes")
    func cut() throws {
        let signature = try #require(P256Signature(rawRepresentation: (1...64).map { UInt8($0) }))
        let der = signature.derRepresentation
        for count in 0..<der.count { #expect(P256Signature(derRepresentation: der[..<count]) == nil) }
        #expect(P256Signature(derRepresentation: der + [0]) == nil)
    }

    struct Integer: Sendable {
        let raw: [UInt8]
        let der: [UInt8]

        init(_ significant: [UInt8], der: [UInt8]) {
            raw = [UInt8](repeating: 0, count: 32 - significant.count) + significant
            self.der = [0x02, UInt8(der.count)] + der
        }
    }

    private static let ones = [UInt8](repeating: 0xFF, count: 32)
    private static let highBit = [0x80] + [UInt8](repeating: 0, count: 31)
    private static let noHighBit = [0x7F] + [UInt8](repeating: 0xFF, count: 31)

    private static let integers = [
        Integer([], der: [0]), Integer([1], der: [1]), Integer([0x7F], der: [0x7F]), Integer([0x80], der: [0, 0x80]),
        Integer([0xFF], der: [0, 0xFF]), Integer([1, 0], der: [1, 0]), Integer([0x80, 0], der: [0, 0x80, 0]),
        Integer(noHighBit, der: noHighBit), Integer(highBit, der: [0] + highBit), Integer(ones, der: [0] + ones),
        Integer(Array(ones.dropLast()), der: [0] + ones.dropLast()),
    ]

    private static let notDER: [[UInt8]] = [
        [], [0x30], [0x30, 0], [0x30, 3, 2, 1, 1],
        // Another tag
        [0x31, 6, 2, 1, 1, 2, 1, 1], [0x30, 6, 3, 1, 1, 2, 1, 1], [0x30, 6, 2, 1, 1, 4, 1, 1],
        // A length in the long or the indefinite form
        [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1], [0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0], [0x30, 7, 2, 0x81, 1, 1, 2, 1, 1],
        // A length that is too small or too large
        [0x30, 5, 2, 1, 1, 2, 1, 1], [0x30, 7, 2, 1, 1, 2, 1, 1], [0x30, 6, 2, 1, 1, 2, 2, 1],
        [0x30, 6, 2, 4, 1, 2, 1, 1],
        // An empty, a negative or a zero-padded integer
        [0x30, 5, 2, 0, 2, 1, 1], [0x30, 6, 2, 1, 0x80, 2, 1, 1], [0x30, 7, 2, 2, 0, 1, 2, 1, 1],
        [0x30, 7, 2, 2, 0, 0x7F, 2, 1, 1],
        [0x30, 7, 2, 1, 1, 2, 2, 0, 0],
        // Three integers, or something after the second
        [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1], [0x30, 6, 2, 1, 1, 2, 1, 1, 0],
        // 33 bytes without a leading zero, and 34 bytes
        [0x30, 38, 2, 33, 1] + [UInt8](repeating: 0, count: 32) + [2, 1, 1],
        [0x30, 39, 2, 34, 0, 0x80] + [UInt8](repeating: 0, count: 32) + [2, 1, 1],
    ]
}
