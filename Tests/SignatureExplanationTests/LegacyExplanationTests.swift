import Crypto
import SignatureExplanation
import Testing

@Suite("Explanation of a legacy signature")
struct LegacyExplanationTests {
    @Test(
        "a signature that Apple accepts is valid without an error",
        arguments: [
            LegacyFixture(), LegacyFixture(user: .nobody),
            LegacyFixture(user: .applicationUsername("Zoë o'Neil")),
            LegacyFixture(user: .appAccountToken("7E3FB204-2f2b-4a05-9a9f-2f5e5c9e5a43")),
            LegacyFixture(nonce: "20FBA8A0-2B80-4A7D-A17F-85C1854727F8"),
        ])
    func valid(_ fixture: LegacyFixture) throws {
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields))
        #expect(explanation.isValid)
        #expect(explanation.outcome == .verified)
        #expect(explanation.findings.isEmpty)
        #expect(explanation.key?.keyID == LegacyFixture.keyID)
        #expect(explanation.verifications == 1)
    }

    @Test(
        "each known mistake is the first finding, and proven if the signed text shows it", arguments: LegacyMistakes.all
    )
    func mistake(_ mistake: LegacyMistake) throws {
        let explanation = LegacyFixture.examine(try mistake.make())
        #expect(explanation.findings.first?.code == mistake.code)
        #expect(!explanation.isValid)
        #expect(explanation.key != nil)
        #expect(explanation.findings.filter { $0.severity == .error }.count == 1)
    }

    @Test("the table has at least forty kinds of mistake")
    func breadth() {
        #expect(Set(LegacyMistakes.all.map(\.code)).count >= 40)
    }

    @Test("two simultaneous mistakes are both found", arguments: LegacyPairs.all)
    func pair(_ pair: LegacyPair) throws {
        let explanation = LegacyFixture.examine(try pair.make())
        #expect(Set(explanation.findings.filter { $0.evidence == .proven }.map(\.code)) == pair.codes)
    }

    @Test("three common simultaneous mistakes are all found")
    func triple() throws {
        let fixture = LegacyFixture()
        let changes = [4: fixture.fields[4].uppercased(), 5: fixture.fields[5].uppercased(), 6: "1698148900"]
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields(changes)))
        #expect(
            Set(explanation.findings.map(\.code)) == [.accountTokenUpperCase, .nonceUpperCase, .timestampSeconds])
    }

    @Test("without a search, the explanation only says that the signature does not verify")
    func noSearch() throws {
        let fixture = LegacyFixture()
        let answer = try fixture.answer(signing: fixture.fields([5: fixture.nonce.uppercased()]))
        let explanation = LegacyFixture.examine(answer, isSearching: false)
        #expect(explanation.outcome == .unverified)
        #expect(explanation.verifications == 2)
    }

    @Test("a signature of an unknown key stays unexplained")
    func unexplained() throws {
        let fixture = LegacyFixture()
        let answer = try fixture.answer(signing: fixture.fields, key: P256.Signing.PrivateKey())
        let explanation = LegacyFixture.examine(answer)
        #expect(explanation.outcome == .unexplained)
        #expect(explanation.findings.map(\.code) == [.unexplained])
        #expect(explanation.key == nil)
        #expect((10_000...SignatureExaminer.defaultMaximumVerifications).contains(explanation.verifications))
        #expect(explanation.report.contains("None of the known mistakes"))
        #expect(explanation.report.contains("In-App Purchase key"))
    }

    @Test("the search stops at its limit and says so")
    func bound() throws {
        let fixture = LegacyFixture()
        let answer = try fixture.answer(signing: fixture.fields, key: P256.Signing.PrivateKey())
        let explanation = LegacyFixture.examine(answer, maximumVerifications: 100)
        #expect(explanation.verifications == 100)
        #expect(explanation.findings.last?.message.contains("cut at its bound of 100") == true)
    }

    @Test(
        "a text that is not a signature is reported as unreadable", arguments: ["", "hello", "AAAA", "{\"error\":1}"])
    func unreadable(_ text: String) {
        let explanation = LegacyFixture.examine(LegacyFixture().answer(signature: text))
        #expect(explanation.findings.first?.code == .signatureUnreadable)
        #expect(!explanation.isValid)
    }

    @Test("an old signature is valid with a warning that the offer expired")
    func expired() throws {
        let fixture = LegacyFixture(timestamp: "1698000000000")
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields))
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.offerExpired])
        #expect(explanation.findings.map(\.severity) == [.warning])
    }

    @Test("a signature from the future is valid with a warning about the clock")
    func future() throws {
        let fixture = LegacyFixture(timestamp: "1698149960000")
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields))
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.issuedInFuture])
    }

    @Test("a key without an ID verifies, with a note that the ID was not checked")
    func keyWithoutID() throws {
        let fixture = LegacyFixture()
        let key = CandidateKey(keyID: nil, label: "public.pem", publicKey: LegacyFixture.key.publicKey)
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields), keys: [key])
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.keyIDUnchecked])
    }

    @Test(
        "a mistake that a field shows is reported even if the signature verifies",
        arguments: [
            (LegacyFixture(productID: "a\u{2063}b"), FindingCode.fieldSeparatorInside),
            (LegacyFixture(productID: "undefined"), .fieldUndefined), (LegacyFixture(offerID: ""), .fieldEmpty),
            (LegacyFixture(offerID: "null"), .fieldNull), (LegacyFixture(nonce: "one"), .nonceNotUUID),
            (LegacyFixture(user: .appAccountToken("alice")), .accountTokenNotUUID),
            (LegacyFixture(timestamp: "1698148900123000"), .timestampFiner),
        ])
    func seen(_ fixture: LegacyFixture, _ code: FindingCode) throws {
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields))
        #expect(explanation.outcome == .verified)
        #expect(!explanation.isValid)
        #expect(explanation.findings.map(\.code) == [code])
    }

    @Test(
        "signed white space is a warning with the field's name",
        arguments: [
            (LegacyFixture(bundleID: "com.Example.app\u{A0}"), "appBundleID"),
            (LegacyFixture(productID: " "), "productIdentifier"),
            (LegacyFixture(offerID: "win\u{2003}ter"), "offerIdentifier"),
            (LegacyFixture(user: .applicationUsername("Zoë\u{3000}")), "applicationUsername"),
        ])
    func whiteSpace(_ fixture: LegacyFixture, _ field: String) throws {
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields))
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.fieldWhiteSpace])
        #expect(explanation.findings.map(\.severity) == [.warning])
        #expect(explanation.findings.map(\.field) == [field])
    }

    @Test("a raw signature without a leading zero is found in a legacy answer", arguments: [0, 32])
    func leadingZero(_ half: Int) throws {
        var raw: [UInt8] = []
        let answer = try {
            while true {
                let answer = try LegacyFixture().answer { signature in
                    raw = Array(signature.rawRepresentation)
                    return LegacyFixture.base64(Array(raw.enumerated().filter { $0.offset != half }.map(\.element)))
                }
                if raw[half] == 0 { return answer }
            }
        }()
        let explanation = LegacyFixture.examine(answer)
        #expect(explanation.findings.map(\.code) == [.signatureLeadingZero, .signatureRaw])
        #expect(explanation.outcome == .explained)
    }

    @Test("the explanation shows the expected signing input with its separators")
    func rendering() throws {
        let fixture = LegacyFixture()
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields, separator: ","))
        #expect(explanation.signingInput?.line == fixture.fields.joined(separator: "␣"))
        #expect(explanation.signingInput?.length == fixture.text.count)
        #expect(explanation.signingInput?.sha256 == LegacyFixture.hex(SHA256.hash(data: fixture.text)))
        #expect(explanation.report.contains("com.Example.app␣2X9R4HXF34␣"))
    }
}
