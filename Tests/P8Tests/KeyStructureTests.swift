import Foundation
import P8
import SigningKit
import Testing

@Suite("Key files with a contradictory structure")
struct KeyStructureTests {
    private let directory: KeyDirectory
    private let key: KeyStructure

    init() throws {
        directory = try KeyDirectory()
        key = try KeyStructure()
    }

    @Test("PKCS #8 version 2 with the matching public key is accepted inside, outside and in both places")
    func ownPublicKey() async throws {
        let outside = KeyStructure.bits(key.point, tag: 0x81)
        let inside = KeyStructure.element(0xA1, KeyStructure.bits(key.point))
        let curve = KeyStructure.element(0xA0, KeyStructure.p256)
        for content in [
            key.pkcs8(), key.pkcs8(version: 1), key.pkcs8(version: 1, outside),
            key.pkcs8(version: 1, KeyStructure.element(0xA0, []), outside), key.pkcs8(key: key.sec1(inside)),
            key.pkcs8(key: key.sec1(curve, inside)), key.pkcs8(version: 1, key: key.sec1(inside), outside),
        ] {
            let backend = try await KeyDirectory.open(directory.write(content))
            await backend.close()
        }
    }

    @Test("PKCS #8 version 2 with the public key of another key is refused")
    func otherPublicKey() async throws {
        let other = try KeyStructure()
        let sentence = "holds a public key that does not belong to its private key"
        try await expect(key.pkcs8(version: 1, KeyStructure.bits(other.point, tag: 0x81)), fails: sentence)
        let inside = KeyStructure.element(0xA1, KeyStructure.bits(other.point))
        let outside = KeyStructure.bits(key.point, tag: 0x81)
        try await expect(key.pkcs8(version: 1, key: key.sec1(inside), outside), fails: sentence)
    }

    @Test("A key with P-256 outside and another curve inside is refused by the other curve's name")
    func twoCurves() async throws {
        let inside = key.sec1(KeyStructure.element(0xA0, KeyStructure.p384))
        try await expect(
            key.pkcs8(key: inside), fails: "names two curves: P-256 (prime256v1) and, in the key itself, secp384r1")
        let explicit = key.sec1(KeyStructure.element(0xA0, KeyStructure.sequence(KeyStructure.integer(1))))
        try await expect(key.pkcs8(key: explicit), fails: "in the key itself, explicit parameters")
    }

    @Test("A version that PKCS #8 does not define is refused", arguments: [UInt8(2), 5, 0x80])
    func unknownVersion(_ version: UInt8) async throws {
        try await expect(key.pkcs8(version: version), fails: "is cut off or damaged")
    }

    @Test("A public key in PKCS #8 version 1 is refused")
    func publicKeyInVersion1() async throws {
        try await expect(key.pkcs8(KeyStructure.bits(key.point, tag: 0x81)), fails: "is cut off or damaged")
    }

    @Test("An empty point, a point with unused bits and a second point are refused, inside and outside")
    func malformedPoints() async throws {
        let point = KeyStructure.bits(key.point)
        for bits in [
            KeyStructure.element(0x03, []), KeyStructure.bits([]), KeyStructure.bits(key.point, unused: 1),
            point + point,
        ] {
            try await expect(
                key.pkcs8(key: key.sec1(KeyStructure.element(0xA1, bits))), fails: "is cut off or damaged")
        }
        let inside = KeyStructure.element(0xA1, point)
        try await expect(key.pkcs8(key: key.sec1(inside, inside)), fails: "is cut off or damaged")
        let outside = KeyStructure.bits(key.point, tag: 0x81)
        for members in [
            KeyStructure.element(0x81, []), KeyStructure.bits([], tag: 0x81),
            KeyStructure.bits(key.point, tag: 0x81, unused: 1), outside + outside, KeyStructure.integer(1),
        ] {
            try await expect(key.pkcs8(version: 1, members), fails: "is cut off or damaged")
        }
    }

    /// 1.2.840.113549.1.5.12 and 1.3.6.1.4.1.11591.4.11.
    private static let pbkdf2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C]
    private static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]

    @Test(
        "More than 5,000,000 PBKDF2 iterations are refused before a passphrase is read",
        arguments: [
            KeyStructure.integer(0x4C, 0x4B, 0x41), KeyStructure.integer(0x3B, 0x9A, 0xCA, 0x00),
            KeyStructure.integer(0, 0xFF, 0xFF, 0xFF, 0xFF), KeyStructure.integer(1, 0, 0, 0, 0, 0, 0, 0, 0),
            KeyStructure.integer(0xFF),
        ])
    func iterations(_ count: [UInt8]) async throws {
        let content = KeyStructure.encrypted(function: Self.pbkdf2, count)
        try await expect(content, fails: "is encrypted at a cost of more than 5000000 PBKDF2 iterations")
    }

    @Test("5,000,000 PBKDF2 iterations are within the limit")
    func mostIterations() async throws {
        let content = KeyStructure.encrypted(function: Self.pbkdf2, KeyStructure.integer(0x4C, 0x4B, 0x40))
        try await expect(content, fails: "give the source of its passphrase")
    }

    @Test("scrypt is refused if N × r × p exceeds 4,194,304, for any of the factors")
    func scrypt() async throws {
        let one = KeyStructure.integer(1)
        let large = KeyStructure.integer(0x40, 0, 1)
        let half = KeyStructure.integer(0x08, 0)
        for factors in [[large, one, one], [one, large, one], [one, one, large], [half, half, half]] {
            let content = KeyStructure.encrypted(function: Self.scrypt, factors.flatMap { $0 })
            try await expect(content, fails: "more than 4194304 scrypt steps")
        }
        let usual = KeyStructure.encrypted(
            function: Self.scrypt, KeyStructure.integer(0x40, 0), KeyStructure.integer(8), one)
        try await expect(usual, fails: "give the source of its passphrase")
    }

    @Test("Unreadable encryption parameters are refused")
    func unreadableParameters() async throws {
        try await expect(KeyStructure.encrypted(function: Self.pbkdf2), fails: "is cut off or damaged")
        try await expect(
            KeyStructure.encrypted(function: Self.scrypt, KeyStructure.integer(2)), fails: "is cut off or damaged")
    }

    private func expect(
        _ content: Data, fails sentence: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let uri = try directory.write(content)
        let error = await #expect(throws: KeyError.self, sourceLocation: sourceLocation) {
            _ = try await KeyDirectory.open(uri)
        }
        let description = error?.description ?? ""
        #expect(description.contains(sentence), "\(description)", sourceLocation: sourceLocation)
    }
}
