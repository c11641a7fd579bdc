import Foundation
import GatewayConfiguration
import Testing

@Suite("docs/configuration.md keeps its word")
struct DocumentationTests {
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
    }

    @Test("each example that is a whole file is read without a fault or a warning")
    func examples() throws {
        let files = blocks("yaml").filter { $0.contains("accounts:") }
        #expect(files.count == 2)
        for file in files { #expect(try configuration(file).warnings.isEmpty) }
    }

    @Test("each message is one that the reader writes")
    func messages() throws {
        let written = Set(
            faults(in: Examples.least("bundleId", "bundleID"))
                + faults(in: Examples.least("        uri:", "        keyId: OTHER\n        uri:"))
                + faults(in: Examples.least("    activeKey: 2X9R4HXF34\n", ""))
                + faults(in: Examples.least("activeKey: 2X9R4HXF34", "activeKey: 2X9R4HXF35"))
                + faults(in: Examples.full.replacing("org.example.third", with: "com.example.app"))
                + faults(in: Examples.least("AuthKey.p8", "AuthKey.p8?pin-value=1234"))
                + faults(in: Examples.least, environment: ["PRIVYSEAL_LOG_FORMAT": "xml"]))
        let shown = try #require(blocks("text").first).split(separator: "\n").map(String.init)
        #expect(shown.count == 7)
        #expect(Set(shown).subtracting(written) == [])
    }

    private func blocks(_ language: String) -> [String] {
        text.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }
}
