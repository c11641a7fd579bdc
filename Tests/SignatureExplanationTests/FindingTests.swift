import Crypto
import Foundation
import SignatureExplanation
import StrictJSON
import Testing

@Suite("Findings")
struct FindingTests {
    @Test("every finding code has a cure and an entry in the troubleshooting guide")
    func documented() throws {
        let guide = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/troubleshooting.md")
        let text = try String(contentsOf: guide.standardized, encoding: .utf8)
        for code in FindingCode.allCases {
            let cure = Finding(code, "").cure
            #expect(cure.hasSuffix(".") || cure.hasSuffix("?"), "\(code.rawValue)")
            #expect(text.contains("`\(code.rawValue)`"), "\(code.rawValue) is missing in docs/troubleshooting.md")
        }
    }

    @Test("codes are lower-case words with hyphens between")
    func spelling() {
        for code in FindingCode.allCases {
            #expect(
                code.rawValue.utf8.allSatisfy { $0 == 0x2D || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
            )
        }
    }

    @Test("no code changes when a case is renamed, because programs compare codes")
    func stable() {
        // If a code is added, correct the number. No code is ever changed or removed.
        let codes = FindingCode.allCases.map(\.rawValue).joined(separator: "\n")
        let digest = "65168762043220a097852ea29907cf089a204ce4ebafbd026addb7fffe5d4e0d"
        #expect(SHA256.hash(data: Array(codes.utf8)).description.hasSuffix(digest), "\(codes)")
    }

    @Test("an explanation has stable JSON member names")
    func json() throws {
        let fixture = LegacyFixture()
        let answer = try fixture.answer(signing: fixture.fields([5: fixture.nonce.uppercased()]))
        let object = try JSONDocument(parsing: JSONText.encode(LegacyFixture.examine(answer))).root.anyObject()
        #expect(object.names == ["valid", "kind", "outcome", "findings", "key", "signingInput", "verifications"])
        let finding = try #require(try object["findings"]?.elements().first?.anyObject())
        #expect(finding.names == ["code", "severity", "evidence", "field", "message", "cure"])
        #expect(try finding["code"]?.string() == "nonce-upper-case")
        #expect(try finding["evidence"]?.string() == "proven")
        #expect(try object["valid"]?.boolean() == false)
        #expect(try object["key"]?.anyObject()["keyId"]?.string() == LegacyFixture.keyID)
        #expect(try object["signingInput"]?.anyObject()["separator"]?.string() == "U+2063")
    }

    @Test("the report escapes control and direction characters of a field")
    func escapes() throws {
        let fixture = LegacyFixture(user: .applicationUsername("a\u{1B}[2Jb\u{202E}c"))
        let explanation = LegacyFixture.examine(try fixture.answer(signing: fixture.fields, separator: ";"))
        #expect(explanation.report.contains("a<U+001B>[2Jb<U+202E>c"))
        #expect(!explanation.report.unicodeScalars.contains("\u{1B}"))
    }

    @Test("the verdict, the remarks and the list of keys escape control characters of a key ID and of a claim")
    func escapesKeyIDs() throws {
        let clear = "\u{1B}[2J"
        let key = CandidateKey(keyID: "KEY\(clear)", label: "jwks.json", publicKey: LegacyFixture.key.publicKey)
        let fixture = LegacyFixture(keyID: "KEY\(clear)")
        let valid = LegacyFixture.examine(try fixture.answer(signing: fixture.fields), keys: [key])
        #expect(valid.verdict == "valid: legacy-promotional-offer, signed by KEY<U+001B>[2J (jwks.json)")
        #expect(valid.remarks.contains { $0.hasPrefix("warning: ") && $0.contains("KEY<U+001B>[2J") })
        let wrong = LegacyFixture.examine(try fixture.answer(signing: ["other"]), keys: [key], maximumVerifications: 10)
        for text in [valid.verdict, wrong.verdict, valid.report, wrong.report] + valid.remarks {
            #expect(!text.unicodeScalars.contains("\u{1B}"))
        }
    }
}
