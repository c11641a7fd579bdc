import Crypto
import CryptoExtras
import Encodings
import Testing

@testable import WorkloadIdentities

struct KeySetTests {
    @Test("A set has one key for each algorithm, and ignores keys of other kinds")
    func ignoresOtherKeys() throws {
        let ec = TestKey.es256.jwk
        let set = try KeySet(
            json(
                TestKey.rs256().jwk, ec, TestKey.edDSA.jwk, ec.replacing("P-256", with: "P-384"),
                ec.replacing(#""kty":"EC""#, with: #""kty":"oct""#), ec.adding(#""use":"enc""#),
                ec.adding(#""alg":"ES384""#), ec.adding(#""key_ops":["sign"]"#), #""a text""#, "{}"))
        #expect(set.keys.map(\.algorithm) == [.rs256, .es256, .edDSA])
        #expect(set.keys.map(\.keyID) == ["rs256", "es256", "eddsa"])
    }

    @Test(
        "A key that is marked for signatures counts",
        arguments: [#""use":"sig""#, #""use":"jwt-svid""#, #""key_ops":["verify"]"#, #""alg":"ES256""#])
    func marks(_ mark: String) throws(KeySetError) {
        #expect(try KeySet(json(TestKey.es256.jwk.adding(mark))).keys.count == 1)
    }

    @Test("An RSA key of less than 2048 or more than 8192 bits does not count", arguments: [1024, 8200])
    func refusesRSASizes(_ bits: Int) throws {
        let modulus = [0x80] + [UInt8](repeating: 1, count: bits / 8 - 1)
        let key = #"{"kty":"RSA","n":"\#(base64(modulus))","e":"AQAB"}"#
        #expect(try KeySet(json(key)).keys.isEmpty)
    }

    @Test(
        "A text that is not a JWK set is refused",
        arguments: [
            "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, "<html>", #"{"keys":[],}"#,
        ])
    func refusesOtherTexts(_ text: String) {
        #expect {
            try KeySet(Array(text.utf8))
        } throws: { error in
            if case .notAKeySet = error as? KeySetError { true } else { false }
        }
    }

    @Test("A set that is too long or has too many keys is refused, and one without keys is valid")
    func refusesSizes() throws {
        #expect(throws: KeySetError.tooLarge) {
            try KeySet([UInt8](repeating: 0x20, count: KeySet.maximumLength + 1))
        }
        #expect(throws: KeySetError.notAKeySet("it has 101 keys; 100 are allowed")) {
            try KeySet(json([String](repeating: "{}", count: 101)))
        }
        #expect(try KeySet(json()).keys.isEmpty)
    }
}

extension String {
    /// A JSON object with one more member.
    fileprivate func adding(_ member: String) -> String { dropLast() + "," + member + "}" }
}
