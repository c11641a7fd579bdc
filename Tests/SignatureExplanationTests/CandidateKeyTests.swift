import Crypto
import Encodings
import SignatureExplanation
import StrictJSON
import Testing

@Suite("Reading public keys")
struct CandidateKeyTests {
    private static let key = P256.Signing.PrivateKey().publicKey
    private static let pem = key.pemRepresentation
    private static let body = LegacyFixture.base64(Array(key.derRepresentation))

    @Test(
        "a PEM public key is read in any copied form",
        arguments: [
            pem, pem + "\n", pem.replacing("\n", with: "\r\n"), "\u{FEFF}" + pem,
            "  " + pem.replacing("\n", with: "\n  "),
            "-----BEGIN PUBLIC KEY-----\n\(body)\n-----END PUBLIC KEY-----", pem.replacing("\n", with: "\\n"),
            "Key of the app\n\(pem)\nend", "-----BEGIN PUBLIC KEY-----\(body)-----END PUBLIC KEY-----",
        ])
    func readsPEM(_ text: String) throws {
        let keys = try CandidateKey.read(Array(text.utf8), label: "key.pem", keyID: "2X9R4HXF34")
        #expect(keys.map(\.publicKey.rawRepresentation) == [Self.key.rawRepresentation])
        #expect(keys.first?.keyID == "2X9R4HXF34")
        #expect(keys.first?.label == "key.pem")
    }

    @Test("all keys of a PEM file are read")
    func severalInPEM() throws {
        let other = P256.Signing.PrivateKey().publicKey
        let keys = try CandidateKey.read(Array("\(Self.pem)\n\(other.pemRepresentation)".utf8), label: "keys.pem")
        #expect(keys.map(\.publicKey.rawRepresentation) == [Self.key.rawRepresentation, other.rawRepresentation])
        #expect(keys.map(\.label) == ["keys.pem, key 1", "keys.pem, key 2"])
    }

    @Test("a DER public key is read")
    func readsDER() throws {
        let keys = try CandidateKey.read(Array(Self.key.derRepresentation), label: "key.der")
        #expect(keys.first?.publicKey.rawRepresentation == Self.key.rawRepresentation)
    }

    /// A SubjectPublicKeyInfo of a P-256 point with these curve parameters.
    private static func info(parameters: [UInt8], point: [UInt8]) -> [UInt8] {
        let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        let algorithm = ecPublicKey + parameters
        let bits = [0x03, UInt8(point.count + 1), 0x00] + point
        let content = [0x30, UInt8(algorithm.count)] + algorithm + bits
        return [0x30] + (content.count < 0x80 ? [] : [0x81]) + [UInt8(content.count)] + content
    }

    private static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    @Test("a P-256 point under another curve or explicit parameters is not a P-256 key")
    func otherParameters() throws {
        let point = Array(Self.key.x963Representation)
        for (parameters, name) in [
            ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A], "a key on secp256k1"),
            ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22], "a key on P-384"),
            ([0x06, 0x09, 0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07], "a key on another curve"),
            ([0x30, 0x03, 0x02, 0x01, 0x01], "a key with explicit curve parameters"),
            (Self.p256 + [0x05, 0x00], "a damaged P-256 key"),
        ] as [([UInt8], String)] {
            let der = Self.info(parameters: parameters, point: point)
            #expect(throws: CandidateKeyError.notP256(name)) { try CandidateKey.read(der, label: "k") }
            let pem = "-----BEGIN PUBLIC KEY-----\n\(LegacyFixture.base64(der))\n-----END PUBLIC KEY-----"
            #expect(throws: CandidateKeyError.notP256(name)) { try CandidateKey.read(Array(pem.utf8), label: "k") }
        }
    }

    @Test("a compressed point is read, and a point off the curve is refused")
    func compressed() throws {
        let der = Self.info(parameters: Self.p256, point: Array(Self.key.compressedRepresentation))
        let keys = try CandidateKey.read(der, label: "k")
        #expect(keys.map(\.publicKey.rawRepresentation) == [Self.key.rawRepresentation])
        // No point of P-256 has this x.
        let wrong = Self.info(parameters: Self.p256, point: [0x02] + [UInt8](repeating: 0xFF, count: 32))
        #expect(throws: CandidateKeyError.notP256("a damaged P-256 key")) { try CandidateKey.read(wrong, label: "k") }
    }

    private static func jwk(_ more: String = "", curve: String = "P-256") -> String {
        let raw = Array(key.rawRepresentation)
        let (x, y) = (TokenFixture.part(raw[..<32]), TokenFixture.part(raw[32...]))
        return "{\"kty\":\"EC\",\"crv\":\"\(curve)\",\"x\":\"\(x)\",\"y\":\"\(y)\",\"kid\":\"2X9R4HXF34\"\(more)}"
    }

    @Test(
        "a JWKS and a single JWK are read, with the key's ID",
        arguments: [
            jwk(), "{\"keys\":[\(jwk())]}",
            "{\"keys\":[{\"kty\":\"RSA\"},\(jwk(",\"use\":\"sig\",\"alg\":\"ES256\""))]}",
            "{\"keys\":[\(jwk(",\"use\":\"enc\"")),\(jwk())]}",
        ])
    func readsJWKS(_ text: String) throws {
        let keys = try CandidateKey.read(Array(text.utf8), label: "jwks.json")
        #expect(keys.map(\.publicKey.rawRepresentation) == [Self.key.rawRepresentation])
        #expect(keys.map(\.keyID) == ["2X9R4HXF34"])
    }

    @Test("the error names what a file holds instead of a public key and never shows it")
    func refusals() {
        let secret = P256.Signing.PrivateKey()
        #expect(throws: CandidateKeyError.empty) { try CandidateKey.read(Array(" \n".utf8), label: "k") }
        #expect(throws: CandidateKeyError.privateKey) {
            try CandidateKey.read(Array(secret.pemRepresentation.utf8), label: "k")
        }
        #expect(throws: CandidateKeyError.privateKey) {
            try CandidateKey.read(Array(Self.jwk(",\"d\":\"AA\"").utf8), label: "k")
        }
        #expect(throws: CandidateKeyError.notP256("a key on P-384")) {
            try CandidateKey.read(Array(P384.Signing.PrivateKey().publicKey.pemRepresentation.utf8), label: "k")
        }
        #expect(throws: CandidateKeyError.certificate) {
            try CandidateKey.read(
                Array("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----".utf8), label: "k")
        }
        #expect(throws: CandidateKeyError.unknownFormat) { try CandidateKey.read(Array("hello".utf8), label: "k") }
        for text in [
            "{", "{}", "{\"keys\":[]}", "{\"keys\":7}", Self.jwk(curve: "P-384"), "-----BEGIN PUBLIC KEY-----",
        ] {
            #expect(throws: CandidateKeyError.self) { try CandidateKey.read(Array(text.utf8), label: "k") }
        }
    }
}
