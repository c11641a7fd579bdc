import Crypto
import Encodings
import SignatureExplanation
import SigningKit

/// The parts of a legacy signature. It composes the text itself, independent of the code under test.
struct LegacyFixture {
    static let now = Timestamp(milliseconds: 1_698_148_960_000)
    static let key = P256.Signing.PrivateKey()
    static let otherKey = P256.Signing.PrivateKey()
    static let keyID = "2X9R4HXF34"
    static let otherKeyID = "7QK3M5LZ90"

    var bundleID = "com.Example.app"
    var keyID = Self.keyID
    var productID = "premium.monthly"
    var offerID = "winter50"
    var user = LegacyAnswer.User.appAccountToken("7e3fb204-2f2b-4a05-9a9f-2f5e5c9e5a43")
    var otherUser: String?
    var nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
    var timestamp = "1698148900123"

    /// The seven fields in the order of the signed text.
    var fields: [String] {
        let text =
            switch user {
            case .nobody: ""
            case .appAccountToken(let token): token.lowercased()
            case .applicationUsername(let name): name
            }
        return [bundleID, keyID, productID, offerID, text, nonce.lowercased(), timestamp]
    }

    /// The fields with some of them replaced, by position.
    func fields(_ changes: [Int: String]) -> [String] {
        fields.enumerated().map { changes[$0.offset] ?? $0.element }
    }

    func answer(signature: String) -> LegacyAnswer {
        LegacyAnswer(
            bundleID: bundleID, keyID: keyID, productID: productID, offerID: offerID, user: user, otherUser: otherUser,
            nonce: nonce, timestamp: timestamp, signature: signature)
    }

    /// The answer with a signature over `fields`.
    func answer(
        signing fields: [String], separator: String = "\u{2063}", key: P256.Signing.PrivateKey = Self.key
    ) throws -> LegacyAnswer {
        try answer(signingBytes: Array(fields.joined(separator: separator).utf8), key: key)
    }

    func answer(signingBytes bytes: [UInt8], key: P256.Signing.PrivateKey = Self.key) throws -> LegacyAnswer {
        answer(signature: Self.base64(Array(try key.signature(for: bytes).derRepresentation)))
    }

    /// The answer with the right text and a signature in another encoding.
    func answer(writing write: (P256.Signing.ECDSASignature) throws -> String) throws -> LegacyAnswer {
        let bytes = Array(fields.joined(separator: "\u{2063}").utf8)
        return answer(signature: try write(Self.key.signature(for: bytes)))
    }

    var text: [UInt8] { Array(fields.joined(separator: "\u{2063}").utf8) }

    static func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.standard.encode(bytes), as: UTF8.self) }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    static let keys = [
        CandidateKey(keyID: keyID, label: "first.pem", publicKey: key.publicKey),
        CandidateKey(keyID: otherKeyID, label: "second.pem", publicKey: otherKey.publicKey),
    ]

    static func examine(
        _ answer: LegacyAnswer, keys: [CandidateKey] = Self.keys, isSearching: Bool = true,
        maximumVerifications: Int = SignatureExaminer.defaultMaximumVerifications
    ) -> Explanation {
        SignatureExaminer(keys: keys, features: [], now: now, maximumVerifications: maximumVerifications)
            .examine(answer, isSearching: isSearching)
    }
}
