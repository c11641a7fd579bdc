import Foundation
import Testing

@testable import SQLiteAuditStore

@Suite("The SQL in docs/audit-format.md")
struct DocumentedSchemaTests {
    @Test("The page has exactly the statements that create a log")
    func statements() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/audit-format.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```sql\n").dropFirst().first)
        let documented = block.components(separatedBy: "```")[0]
        #expect(documented == LogSchema.statements.map { $0 + ";\n" }.joined())
    }
}
