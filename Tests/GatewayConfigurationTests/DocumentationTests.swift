import Foundation
import GatewayConfiguration
import Testing

@Suite("docs/configuration.md")
struct DocumentationTests {
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
    }

    @Test("each complete example parses without a fault or warning")
    func examples() throws {
        let files = blocks("yaml").filter { $0.contains("accounts:") }
        #expect(files.count == 3)
        for file in files { #expect(try configuration(file).warnings.isEmpty) }
    }

    @Test("each documented message is one that the reader writes")
    func messages() throws {
        let nobody = try #require(throws: ConfigurationError.self) {
            try configuration(Examples.least).requireServable()
        }.description
        let written = Set(
            faults(in: Examples.least("bundleId", "bundleID"))
                + faults(in: Examples.least("        uri:", "        keyId: OTHER\n        uri:"))
                + faults(in: Examples.least("    activeKey: 2X9R4HXF34\n", ""))
                + faults(in: Examples.least("activeKey: 2X9R4HXF34", "activeKey: 2X9R4HXF35"))
                + faults(in: Examples.full.replacing("org.example.third", with: "com.example.app"))
                + faults(in: Examples.least("AuthKey.p8", "AuthKey.p8?pin-value=1234"))
                + faults(in: Examples.least, environment: ["PRIVYSEAL_LOG_FORMAT": "xml"])
                + faults(in: Examples.least, environment: ["PRIVYSEAL_LISTEN": "0.0.0.0:8443"])
                + faults(in: Examples.network("\"1a2b3c4d", "\"\(SecretTests.clientToken)")))
        let shown = try #require(blocks("text").last).split(separator: "\n").map(String.init)
        #expect(shown.count == 10)
        #expect(Set(shown).subtracting(written.union([nobody])) == [])
    }

    @Test("each documented change is one that the reader reports")
    func changes() throws {
        let old = try configuration(Examples.network("perSecond: 0.5", "perSecond: 50"))
        let new = Examples.network("perSecond: 0.5", "perSecond: 100").replacing("0.0.0.0:8443", with: "0.0.0.0:443")
        let written = try configuration(new).changes(from: old).map(\.description)
        let shown = try #require(blocks("text").first).split(separator: "\n").map(String.init)
        #expect(shown.filter { !$0.contains("tokens[") } == written)
        #expect(shown.count == 3)
    }

    private func blocks(_ language: String) -> [String] {
        text.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }
}
