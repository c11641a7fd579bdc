import GatewayConfiguration
import Testing

@Suite("Faults name the file, line, path and cure")
struct FaultTests {
    /// A change to `Examples.least`, and the complete line that it causes.
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let replacement: String
        let fault: String

        init(_ text: String, _ replacement: String, _ fault: String) {
            self.text = text
            self.replacement = replacement
            self.fault = fault
        }

        var testDescription: String { replacement }
    }

    @Test(
        "the reader reports unknown, missing, repeated and invalid keys",
        arguments: [
            Case(
                "bundleId", "bundleID",
                "gateway.yaml:4: accounts[0].apps[0].bundleID: is not a known key; did you mean bundleId? "
                    + "The keys are bundleId, features."),
            Case(
                "    activeKey", "    zzz: 1\n    activeKey",
                "gateway.yaml:9: accounts[0].zzz: is not a known key; the keys are issuerId, apps, keys, activeKey, "
                    + "dualControl, proposalLifetime."
            ),
            Case(
                "        uri: file:/etc/privyseal/AuthKey.p8\n", "",
                "gateway.yaml:7: accounts[0].keys[0].uri: is missing; give the location of the key: a URI with the "
                    + "scheme pkcs11: or file:."),
            Case(
                "    activeKey: 2X9R4HXF34\n", "",
                "gateway.yaml:2: accounts[0].activeKey: is missing; give the keyId of the key that signs."),
            Case(
                "        uri:", "        keyId: OTHER\n        uri:",
                "gateway.yaml:8: accounts[0].keys[0].keyId: is given twice, first on line 7; keep one of them."),
            Case(
                "        uri:", "        \"keyId\": OTHER\n        uri:",
                "gateway.yaml:8: accounts[0].keys[0].keyId: is given twice, first on line 7; keep one of them."),
            Case(
                "    activeKey: 2X9R4HXF34", "    activeKey: 2X9R4HXF34\n    [a, b]: c",
                "gateway.yaml:10: accounts[0]: has a key that is not a name; write each key as one word."),
        ])
    func keys(_ row: Case) { check(row) }

    @Test(
        "the reader reports values of the wrong kind",
        arguments: [
            Case(
                "[promotional-offer]", "promotional-offer",
                "gateway.yaml:5: accounts[0].apps[0].features: must be a list, but is text; begin each element with \"- \", "
                    + "or write [a, b]."),
            Case(
                "accounts:", "logging: info\naccounts:",
                "gateway.yaml:1: logging: must be a mapping, but is text; write each key on a line of its own, as in "
                    + "\"key: value\"."),
            Case(
                "accounts:", "backends: {file: {allowSharedFiles: yes}}\naccounts:",
                "gateway.yaml:1: backends.file.allowSharedFiles: must be true or false, but is text; write true or false, "
                    + "without quotes."),
            Case(
                "accounts:", "shutdownGracePeriod: 30s\naccounts:",
                "gateway.yaml:1: shutdownGracePeriod: must be a whole number, but is text; write it in decimal digits, "
                    + "without quotes or a unit."),
            Case(
                "accounts:", "shutdownGracePeriod: 010\naccounts:",
                "gateway.yaml:1: shutdownGracePeriod: must be a whole number, but begins with a zero; write it in decimal digits, "
                    + "without quotes or a unit."),
            Case(
                "accounts:", "shutdownGracePeriod: \"30\"\naccounts:",
                "gateway.yaml:1: shutdownGracePeriod: must be a whole number, but is text; write it in decimal digits, "
                    + "without quotes or a unit."),
            Case(
                "accounts:", "backends: {pkcs11: {sessions: true}}\naccounts:",
                "gateway.yaml:1: backends.pkcs11.sessions: must be a whole number, but is true or false; write it in "
                    + "decimal digits, without quotes or a unit."),
            Case(
                "com.example.app", "[com.example.app]",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: must be text, but is a list."),
            Case(
                "com.example.app", "~",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: has no value; give text, or leave it out."),
            Case(
                "com.example.app", "null",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: has no value; give text, or leave it out."),
            Case(
                "accounts:", "listen:\n# nothing\naccounts:",
                "gateway.yaml:1: listen: has no value; give text, or leave it out."),
            Case(
                "accounts:", "backends:\naccounts:",
                "gateway.yaml:1: backends: has no value; give a mapping, or leave it out."),
        ])
    func kinds(_ row: Case) { check(row) }

    @Test(
        "the reader reports invalid values",
        arguments: [
            Case(
                "[promotional-offer]", "[]",
                "gateway.yaml:5: accounts[0].apps[0].features: is an empty list; give at least one feature."),
            Case(
                "promotional-offer", "promotional-offers",
                "gateway.yaml:5: accounts[0].apps[0].features[0]: is \"promotional-offers\", which is not known; did you mean "
                    + "promotional-offer? The choices are legacy-promotional-offer, promotional-offer, "
                    + "introductory-offer-eligibility, advanced-commerce-api."),
            Case(
                "[promotional-offer]", "[promotional-offer, promotional-offer]",
                "gateway.yaml:5: accounts[0].apps[0].features[1]: gives the feature \"promotional-offer\" that is "
                    + "already given at gateway.yaml:5: accounts[0].apps[0].features[0]; give it only once."),
            Case(
                "activeKey: 2X9R4HXF34", "activeKey: 2X9R4HXF35",
                "gateway.yaml:9: accounts[0].activeKey: is \"2X9R4HXF35\", which is not the keyId of any key of this account; "
                    + "did you mean 2X9R4HXF34? The keys are \"2X9R4HXF34\"."),
            Case(
                "accounts:", "backends: {pkcs11: {sessions: 65}}\naccounts:",
                "gateway.yaml:1: backends.pkcs11.sessions: is 65; it must be from 1 to 64."),
            Case(
                "accounts:", "backends: {pkcs12: {sessions: 6}}\naccounts:",
                "gateway.yaml:1: backends.pkcs12: is not a known key; did you mean pkcs11? The keys are "
                    + "pkcs11, file."),
            Case(
                "accounts:", "verification: false\naccounts:",
                "gateway.yaml:1: verification: is \"false\"; give always, off or, for one signature of a hundred, sampled:100."
            ),
            Case(
                "accounts:", "verification: {sampled: 1}\naccounts:",
                "gateway.yaml:1: verification.sampled: must sample one signature of N, with N a whole number from 2 to "
                    + "1000000; give always to verify each of them."),
            Case(
                "accounts:", "logging:\n  level: warn\naccounts:",
                "gateway.yaml:2: logging.level: is \"warn\", which is not known; the choices are trace, debug, info, notice, "
                    + "warning, error, critical."),
            Case(
                "accounts:", "shutdownGracePeriod: 0\naccounts:",
                "gateway.yaml:1: shutdownGracePeriod: is 0; it must be from 1 to 3600 seconds."),
            Case(
                "com.example.app", "\"com.example\\u2063.app\"",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: holds U+2063 (the separator of the signed fields) at character "
                    + "12; remove it."),
            Case(
                "com.example.app", "\"com.example\\0.app\"",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: holds the control character U+0000 at character 12; remove it."
            ),
            Case(
                "com.example.app", "\"com.example.app \"",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: holds white space; remove it."),
            Case(
                "com.example.app", "\"com.example\\u3000.app\"",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: holds white space; remove it."),
            // U+0D4E and the character after it form one grapheme cluster.
            Case(
                "com.example.app", "\"com.example\u{D4E} .app\"",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: holds white space; remove it."),
            Case(
                "keyId: 2X9R4HXF34", "keyId: 2X9R4H\u{212A}F34",
                "gateway.yaml:7: accounts[0].keys[0].keyId: holds a character at position 7 that is not ASCII; copy it from App "
                    + "Store Connect."),
            Case(
                "57246542-96fe-1a63-e053-0824d011072a", "''",
                "gateway.yaml:2: accounts[0].issuerId: is empty; it must hold at least one character."),
            Case(
                "    activeKey", "        publicKey: sha256:abc\n    activeKey",
                "gateway.yaml:9: accounts[0].keys[0].publicKey: is not a fingerprint; it must be sha256: and the 64 "
                    + "hexadecimal digits of the SHA-256 of the public key in DER, which privyseal keys list shows."),
        ])
    func values(_ row: Case) { check(row) }

    @Test(
        "the reader reports invalid key URIs",
        arguments: [
            Case(
                "file:/etc/privyseal/AuthKey.p8", "/etc/privyseal/AuthKey.p8",
                "gateway.yaml:8: accounts[0].keys[0].uri: cannot be used: it must begin with a scheme, such as file: or pkcs11:."
            ),
            Case(
                "file:/etc/privyseal/AuthKey.p8", "vault:key",
                "gateway.yaml:8: accounts[0].keys[0].uri: cannot be used: no backend serves its scheme; the schemes "
                    + "are pkcs11, file."),
            Case(
                "file:/etc/privyseal/AuthKey.p8", "file:AuthKey.p8",
                "gateway.yaml:8: accounts[0].keys[0].uri: cannot be used: its path must be absolute."),
            Case(
                "file:/etc/privyseal/AuthKey.p8", "file:/etc/my key.p8",
                "gateway.yaml:8: accounts[0].keys[0].uri: holds a character invalid in URIs, at position 13; "
                    + "percent-encode it."),
        ])
    func uris(_ row: Case) { check(row) }

    @Test("bundle IDs and key IDs are unique across all accounts")
    func taken() {
        let text = Examples.full.replacing("org.example.third", with: "com.example.app")
            .replacing("ABCDEFGHIJ", with: "2X9R4HXF34")
        #expect(
            faults(in: text) == [
                "gateway.yaml:27: accounts[1].apps[0].bundleId: gives the bundle ID \"com.example.app\" that is already given at "
                    + "gateway.yaml:14: accounts[0].apps[0].bundleId; give it only once.",
                "gateway.yaml:28: accounts[1].keys[0].keyId: gives the key ID \"2X9R4HXF34\" that is already given at "
                    + "gateway.yaml:21: accounts[0].keys[0].keyId; give it only once.",
            ])
    }

    @Test("the reader reports all faults at once, in line order")
    func together() throws {
        let text = """
            listne: 127.0.0.1:8080
            accounts:
              - issuerId: a
                apps: []
                keys:
                  - keyId: k
                    keyId: k
                    uri: nowhere
                    keyId: k
                activeKey:
            logging: {level: loud, level: quiet}

            """
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(
            error.faults.map { "\($0.origin)" } == [
                "gateway.yaml:1: listne", "gateway.yaml:4: accounts[0].apps",
                "gateway.yaml:7: accounts[0].keys[0].keyId",
                "gateway.yaml:8: accounts[0].keys[0].uri", "gateway.yaml:9: accounts[0].keys[0].keyId",
                "gateway.yaml:10: accounts[0].activeKey", "gateway.yaml:11: logging.level",
                "gateway.yaml:11: logging.level",
            ])
        #expect(error.description.split(separator: "\n").count == 8)
    }

    @Test("one mistake gives one fault: an unreadable key does not make the active key missing")
    func noEcho() {
        let text = Examples.least("keyId: 2X9R4HXF34", "keyId: [2X9R4HXF34]")
        #expect(faults(in: text) == ["gateway.yaml:7: accounts[0].keys[0].keyId: must be text, but is a list."])
        let tagged = Examples.least("issuerId: ", "issuerId: !uuid ")
        #expect(faults(in: tagged).count == 1)
    }

    @Test("the message truncates a long list of faults")
    func cut() throws {
        let text = (0..<200).map { "unknown\($0): 1\n" }.joined() + Examples.least
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error.faults.count == 200)
        #expect(error.description.hasSuffix("\n… and 150 more."))
    }

    private func check(_ row: Case) {
        #expect(faults(in: Examples.least(row.text, row.replacement)) == [row.fault])
    }
}
