import AuditKit
import Testing

@Suite("Reading damaged entries")
struct EntryFieldsTests {
    private static let entry =
        #"{"app":"com.\"ex\\","counts":{"denied":2},"item":3,"key":"K","offers":["a","b\\"],"time":"t","v":1}"#

    private func read(_ text: some Sequence<UInt8>) -> EntryFields? {
        let fields = EntryFields(Array(text))
        // None of these may trap.
        for term in AuditTerm.allCases { _ = fields?.values(of: term) }
        _ = fields?.numbers("counts")
        _ = fields?.time
        return fields
    }

    @Test("EntryFields reads an intact entry")
    func whole() throws {
        let fields = try #require(read(Self.entry.utf8))
        #expect(fields.text("app") == #"com."ex\"#)
        #expect(fields.texts("offers") == ["a", #"b\"#])
        #expect(fields.integer("item") == 3 && fields.text("key") == "K")
        #expect(fields.numbers("counts").map(\.number) == [2])
    }

    @Test("EntryFields refuses an entry that is truncated at any byte")
    func truncated() {
        let bytes = Array(Self.entry.utf8)
        for length in 0..<bytes.count { #expect(read(bytes.prefix(length)) == nil) }
    }

    @Test("EntryFields survives any change of one byte")
    func changed() {
        let bytes = Array(Self.entry.utf8)
        for position in bytes.indices {
            for byte in Array(#"\"{}[],:"#.utf8) + [0, 0x30, 0xff] {
                var other = bytes
                other[position] = byte
                _ = read(other)
            }
        }
    }

    @Test(
        "EntryFields refuses text that is not an object of members",
        arguments: [
            "", "{", "{\"", #"{"\"#, #"{"a"#, #"{"a":"#, #"{"a":"\"#, #"{"a":1"#, #"{"a":1}x"#, "[]", #"{"a"}"#, "{:1}",
        ])
    func none(_ text: String) {
        #expect(read(text.utf8) == nil)
    }
}
