import GatewayConfiguration
import Testing

@Suite("Invalid and unsupported YAML")
struct YAMLTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let yaml: String
        let fault: String

        init(_ yaml: String, _ fault: String) {
            self.yaml = yaml
            self.fault = fault
        }

        var testDescription: String { String(yaml.prefix(40)) }
    }

    @Test(
        "the reader refuses an invalid document with its line",
        arguments: [
            Case("", "gateway.yaml: holds no settings; it must have accounts or services."),
            Case("# only a comment\n", "gateway.yaml: holds no settings; it must have accounts or services."),
            Case("~\n", "gateway.yaml: holds no settings; it must have accounts or services."),
            Case(
                "{}\n",
                "gateway.yaml:1: accounts: is missing; give a list with the issuerId, apps, keys and activeKey of each account."
            ),
            Case(
                "- a\n",
                "gateway.yaml:1: must be a mapping, but is a list; write each key on a line of its own, as in \"key: value\"."
            ),
            Case(
                Examples.least + "---\n" + Examples.least,
                "gateway.yaml:12: begins a second document; give only one, so remove the line \"---\"."),
            Case(
                "accounts:\n\t- issuerId: a\n", "gateway.yaml:2: is indented with a tab; YAML allows only spaces."),
            Case(
                "listen: 127.0.0.1:8080: x\n",
                "gateway.yaml:1: is not YAML: mapping values are not allowed in this context; look at the indentation and the "
                    + "quotes here."),
            Case(
                "a: 1\n b: 2\n",
                "gateway.yaml:2: is not YAML: mapping values are not allowed in this context; look at the indentation and the "
                    + "quotes here."),
            Case(
                "a:\n  - [1, 2\nb: 3\n",
                "gateway.yaml:3: is not YAML: did not find expected ',' or ']' (while parsing a flow sequence, which begins on "
                    + "line 2); look at the indentation and the quotes here."),
            Case("a: b\u{1B}[31m\n", "gateway.yaml:1: holds the character U+001B in column 5; remove it."),
            Case("a: b\u{85}c: d\n", "gateway.yaml:1: holds the character U+0085 in column 5; remove it."),
            Case("a: b\u{2028}c: d\n", "gateway.yaml:1: holds the character U+2028 in column 5; remove it."),
            Case("a: b\u{FFFE}\n", "gateway.yaml:1: is not YAML: control characters are not allowed."),
            Case(
                "a: *nothing\n",
                "gateway.yaml:1: is not YAML: found undefined alias; put what begins with * in quotes, as in \"*\"."),
            Case(
                "apps: [*]\n",
                "gateway.yaml:1: is not YAML: did not find expected alphabetic or numeric character (while scanning an alias, "
                    + "which begins on line 1); put what begins with * in quotes, as in \"*\"."),
        ])
    func documents(_ row: Case) {
        #expect(faults(in: row.yaml) == [row.fault])
    }

    @Test("the reader refuses anchors, aliases, merge keys and tags")
    func references() {
        #expect(
            faults(in: Examples.least("com.example.app", "&app com.example.app")) == [
                "gateway.yaml:4: accounts[0].apps[0].bundleId: has an anchor; anchors are not supported, so remove "
                    + "the word that begins with &."
            ])
        #expect(
            faults(in: "a: &x {b: c}\nd: *x\n") == [
                "gateway.yaml:2: uses an alias; aliases are not supported, so write the value out."
            ])
        #expect(
            faults(in: "<<: {listen: 127.0.0.1:1}\n" + Examples.least).first?.hasPrefix(
                "gateway.yaml:1: …: is not a known key") == true)
        #expect(
            faults(in: Examples.least("com.example.app", "!!binary Y29t")) == [
                "gateway.yaml:4: accounts[0].apps[0].bundleId: has a tag; tags are not supported, so remove the word "
                    + "that begins with !."
            ])
    }

    @Test(
        "the reader refuses a tag even if it states the actual type",
        arguments: [
            ("keyId: 2X9R4HXF34", "keyId: !!str 2X9R4HXF34", "gateway.yaml:7: accounts[0].keys[0].keyId"),
            ("keyId: 2X9R4HXF34", "keyId: !!str \"2X9R4HXF34\"", "gateway.yaml:7: accounts[0].keys[0].keyId"),
            ("keyId: 2X9R4HXF34", "keyId: ! \"2X9R4HXF34\"", "gateway.yaml:7: accounts[0].keys[0].keyId"),
            ("keyId: 2X9R4HXF34", "keyId: ! 2X9R4HXF34", "gateway.yaml:7: accounts[0].keys[0].keyId"),
            ("features: [p", "features: !!seq [p", "gateway.yaml:5: accounts[0].apps[0].features"),
            ("features: [p", "features: [!!str p", "gateway.yaml:5: accounts[0].apps[0].features[0]"),
            ("    apps:\n", "    apps: !!seq\n", "gateway.yaml:3: accounts[0].apps"),
            (
                "features: [promotional-offer]", "!!str features: [promotional-offer]",
                "gateway.yaml:5: accounts[0].apps[0].features"
            ),
            ("audit: off", "audit: !!str off", "gateway.yaml:10: audit"),
            ("audit: off", "audit: off\nlogging: !!map {level: info}", "gateway.yaml:11: logging"),
        ])
    func ownTags(_ text: String, _ replacement: String, _ place: String) {
        let sentence = "has a tag; tags are not supported, so remove the word that begins with !."
        #expect(faults(in: Examples.least(text, replacement)).contains("\(place): \(sentence)"))
    }

    @Test("an exclamation mark inside a value is not a tag")
    func exclamationMarks() {
        #expect(
            faults(in: Examples.network("products: [\"com.example.*\"]", "products: [\"!a\", b!, \"c ! d\".x]")).count
                == 1)
        #expect(faults(in: Examples.network("products: [\"com.example.*\"]", "products: [\"!a\", b!c, '!!str']")) == [])
    }

    @Test("nested aliases cost no time, even as keys", .timeLimit(.minutes(1)))
    func laughs() {
        var text = "a0: &a0 [x, x]\n"
        for level in 1...40 { text += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
        text += "? *a40\n: x\n"
        #expect(
            faults(in: text) == ["gateway.yaml:2: uses an alias; aliases are not supported, so write the value out."])
    }

    @Test(
        "the reader refuses deep nesting before the stack overflows", .timeLimit(.minutes(1)),
        arguments: ["[", "{a: ", "- ", "? ", "a:\n"])
    func depth(_ opening: String) {
        for count in [17, 900, 100_000] {
            let text: String
            if opening == "a:\n" {
                text = (0..<min(count, 900)).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
            } else {
                text = String(repeating: opening, count: count)
            }
            #expect(!faults(in: text).isEmpty)
        }
        let text = "a: " + String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
        #expect(faults(in: text).contains { $0.contains("nests deeper than any setting does") })
    }

    @Test("the reader refuses bytes that are not UTF-8 and names their line")
    func encoding() throws {
        for (bytes, line) in [([0xFF, 0xFE, 0x61, 0x00], 1), ([0x61, 0x3A, 0x0A, 0xC3, 0x28], 2)] as [([UInt8], Int)] {
            let error = try #require(throws: ConfigurationError.self) { try configuration(bytes) }
            #expect(error.description == "gateway.yaml:\(line): is not UTF-8; save the file in that encoding.")
        }
    }

    @Test("the reader reports a key repeated 40,000 times with its path within a minute", .timeLimit(.minutes(1)))
    func endlessRepetition() throws {
        let text = "logging:\n" + String(repeating: "  level: info\n", count: 40_000) + Examples.least
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error.faults.count == 39_999)
        #expect(
            error.faults.last?.description
                == "gateway.yaml:40001: logging.level: is given twice, first on line 2; keep one of them.")
    }

    @Test("the reader suggests a key for an unknown one, but not for more than a thousand of them")
    func manyUnknownKeys() throws {
        for count in [500, 1500] {
            let text = (0..<count).map { "unknown\($0): 1\n" }.joined() + "listne: 1\n" + Examples.least
            let last = try #require(faults(in: text).last { $0.contains("listne") })
            #expect(last.contains("did you mean listen? The keys are") == (count == 500))
        }
    }

    @Test("the reader reports each repeated key and the other faults")
    func manyDuplicates() {
        let text = (1...20).map { "k\($0): 1\nk\($0): 2\n" }.joined() + "listen: {}\n" + Examples.least
        let lines = faults(in: text)
        #expect(lines.count { $0.contains("is given twice") } == 20)
        #expect(lines.contains { $0.hasPrefix("gateway.yaml:41: listen: must be text") })
        let endless = (1...100).map { "k\($0): 1\nk\($0): 2\n" }.joined()
        #expect(faults(in: endless).count { $0.contains("is given twice, first on line") } == 100)
        // The search for duplicate keys does not change values that resemble a key.
        let values = Examples.network("serviceName: shop-signer", "serviceName: shop:shop").replacing(
            "http://127.0.0.1:4318/v1/traces", with: "http://127.0.0.1:4318/http:/v1")
        #expect(
            faults(in: values.replacing("sampling: 0.1", with: "sampling: 0.1\n  sampling: 0.2")) == [
                "gateway.yaml:50: tracing.sampling: is given twice, first on line 49; keep one of them."
            ])
        #expect(
            faults(in: "{[a]: 1}").first
                == "gateway.yaml:1: has a key that is not a name; write each key as one word.")
    }

    @Test(
        "the reader names a key that is repeated in another notation",
        arguments: ["? listen\n: x\n? listen\n: y\n", "\"l\\x69sten\": x\nlisten: y\n"])
    func disguisedDuplicates(_ text: String) {
        let faults = faults(in: text)
        #expect(faults.contains { $0.contains("listen: is given twice, first on line 1; keep one") }, "\(faults)")
    }
}
