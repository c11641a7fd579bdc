import Crypto
import SignatureExplanation
import SigningKit
import Testing

@Suite("Robustness of explanations")
struct RobustnessTests {
    /// A generator of the same numbers in every run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64 = 2063
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    @Test("a token with a changed, dropped or doubled byte is never valid")
    func tokens() throws {
        var numbers = Numbers()
        let token = Array(try TokenFixture().token().utf8)
        let examiner = SignatureExaminer(
            keys: LegacyFixture.keys, features: TokenFixture.features, now: LegacyFixture.now, maximumVerifications: 4)
        for round in 0..<2000 {
            var changed = token
            let index = Int.random(in: changed.indices, using: &numbers)
            switch round % 3 {
            case 0: changed[index] ^= UInt8.random(in: 1...255, using: &numbers)
            case 1: changed.remove(at: index)
            default: changed.insert(changed[index], at: index)
            }
            #expect(!examiner.examine(token: changed, isSearching: true).isValid)
        }
    }

    @Test("changed claims are read without a trap, and signed ones are judged")
    func claims() throws {
        var numbers = Numbers()
        for _ in 0..<300 {
            var claims = Array(TokenFixture().claims.utf8)
            claims[Int.random(in: claims.indices, using: &numbers)] = UInt8.random(in: 0x20...0x7E, using: &numbers)
            let fixture = TokenFixture(claims: String(decoding: claims, as: UTF8.self))
            #expect(TokenFixture.examine(try fixture.token()).outcome == .verified)
        }
    }

    @Test(
        "times at the limits of the number range are judged",
        arguments: [
            "", "-1", "-9223372036854775808", "9223372036854775807", "99999999999999999999", "1e400", "-1e9", "nan",
            "inf",
            "0", "0x10", "1e18", "+1698148900123", " 1698148900123", "99999999999", "100000000000", "99999999999999",
        ])
    func times(_ text: String) throws {
        let fixture = LegacyFixture(timestamp: text)
        let explanation = LegacyFixture.examine(try fixture.answer(signing: ["other"]), maximumVerifications: 300)
        #expect(!explanation.isValid)
    }

    @Test("a legacy signature with a changed character is never valid")
    func signatures() throws {
        var numbers = Numbers()
        let answer = try LegacyFixture().answer(signing: LegacyFixture().fields)
        let examiner = SignatureExaminer(
            keys: LegacyFixture.keys, features: TokenFixture.features, now: LegacyFixture.now, maximumVerifications: 4)
        for _ in 0..<1000 {
            var characters = Array(answer.signature.utf8)
            characters[Int.random(in: characters.indices, using: &numbers)] ^= UInt8.random(
                in: 1...127, using: &numbers)
            var changed = answer
            changed.signature = String(decoding: characters, as: UTF8.self)
            #expect(!examiner.examine(changed, isSearching: false).isValid)
        }
    }

    @Test("a key that is given under another ID gets the same search depth")
    func unnamedKey() throws {
        let fixture = LegacyFixture()
        let key = CandidateKey(keyID: "AAAAAAAAAA", label: "k", publicKey: LegacyFixture.key.publicKey)
        let changes = [0: fixture.bundleID.lowercased(), 5: fixture.nonce.uppercased()]
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields(changes)), keys: [key])
        #expect(Set(explanation.findings.map(\.code)) == [.nonceUpperCase, .fieldCase, .keyOther])
    }

    @Test("a search over a long text has fewer verifications")
    func longText() throws {
        let fixture = LegacyFixture(user: .applicationUsername(String(repeating: "x", count: 1 << 15)))
        let answer = try fixture.answer(signing: ["other"])
        let explanation = LegacyFixture.examine(answer, maximumVerifications: 100)
        #expect((1...12).contains(explanation.verifications))
        #expect(explanation.report.contains("The search was cut at its bound of 12 verifications"))
    }

    @Test("without a key, no signature is valid and no error occurs")
    func noKeys() throws {
        let explanation = LegacyFixture.examine(try LegacyFixture().answer(signing: LegacyFixture().fields), keys: [])
        #expect(explanation.outcome == .unexplained)
        #expect(!TokenFixture.examine(try TokenFixture().token(), keys: []).isValid)
    }
}
