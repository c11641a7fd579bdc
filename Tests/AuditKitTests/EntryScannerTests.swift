import AuditKit
import Testing

@Suite("What a damaged entry is read as")
struct EntryScannerTests {
    private static let entry =
        #"{"app":"com.\"ex\\","counts":{"denied":2},"item":3,"key":"K","offers":["a","b\\"],"time":"t","v":1}"#

    private func read(_ text: some Sequence<UInt8>) -> EntryFields? {
        let fields = EntryFields(Array(text))
        // Nothing of these may look beyond the bytes, whatever they are.
        for term in AuditTerm.allCases { _ = fields?.values(of: term) }
        _ = fields?.numbers("counts")
        _ = fields?.time
        var common: [UInt8] = []
        fields?.appendCommon(to: &common)
        return fields
    }

    @Test("A whole one is read")
    func whole() throws {
        let fields = try #require(read(Self.entry.utf8))
        #expect(fields.text("app") == #"com."ex\"#)
        #expect(fields.texts("offers") == ["a", #"b\"#])
        #expect(fields.integer("item") == 3 && fields.text("key") == "K")
        #expect(fields.numbers("counts").map(\.number) == [2])
    }

    @Test("One that ends early is none, wherever it ends")
    func truncated() {
        let bytes = Array(Self.entry.utf8)
        for length in 0..<bytes.count { #expect(read(bytes.prefix(length)) == nil) }
    }

    @Test("One byte that is another one hurts nobody")
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
        "What is no object of members is none",
        arguments: [
            "", "{", "{\"", #"{"\"#, #"{"a"#, #"{"a":"#, #"{"a":"\"#, #"{"a":1"#, #"{"a":1}x"#, "[]", #"{"a"}"#, "{:1}",
        ])
    func none(_ text: String) {
        #expect(read(text.utf8) == nil)
    }

    @Test("Two entries that differ in a member do not have the same in common, even where a comma is gone")
    func common() throws {
        func common(_ text: String) throws -> [UInt8] {
            var bytes: [UInt8] = []
            try #require(EntryFields(Array(text.utf8))).appendCommon(to: &bytes)
            return bytes
        }
        let whole = #"{"item":3,"key":"K","kind":"signature"}"#
        #expect(try common(whole) != common(#"{"item":3"key":"K","kind":"signature"}"#))
        #expect(try common(whole) != common(#"{"item":3,"key":"L","kind":"signature"}"#))
        #expect(
            try common(whole)
                == common(
                    #"{"digest":"d","item":3,"key":"K","kind":"signature","nonce":"n","requestId":"r","time":"t"}"#))
    }
}
