import StrictJSON
import Testing

@Suite("Limits of the JSON reader")
struct BoundsTests {
    @Test("the reader refuses nesting beyond the given depth", arguments: [1, 2, 31, 32, 33, 100])
    func depth(_ limit: Int) throws {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            #expect(throws: Never.self) {
                try JSONDocument(parsing: nested(limit, open, close), maximumDepth: limit)
            }
            #expect { try JSONDocument(parsing: nested(limit + 1, open, close), maximumDepth: limit) } throws: {
                ($0 as? JSONSyntaxError)?.reason == .tooDeep(limit: limit)
            }
        }
    }

    @Test("the reader refuses a hundred thousand brackets at the depth limit")
    func hostileDepth() {
        #expect { try JSONDocument(parsing: Array(repeating: UInt8(ascii: "["), count: 100_000)) } throws: {
            $0 as? JSONSyntaxError != nil && ($0 as? JSONSyntaxError)?.offset == JSONDocument.defaultMaximumDepth
        }
    }

    @Test("the reader finds each of many members of an object", arguments: [15, 16, 17, 18, 1000])
    func manyMembers(_ count: Int) throws {
        let object = try JSONDocument(parsing: self.object((0..<count).map { "m\($0)" })).root.anyObject()
        #expect(object.names.count == count)
        for index in 0..<count {
            #expect(try object["m\(index)"]?.integer() == Int64(index))
        }
        #expect(object["m\(count)"] == nil)
    }

    @Test("the reader finds a repeated member among many", arguments: [16, 17, 500], ["m0", #"\u006d7"#])
    func duplicateAmongMany(_ count: Int, _ duplicate: String) {
        let text = object((0..<count).map { "m\($0)" } + [duplicate])
        #expect { try JSONDocument(parsing: text) } throws: {
            if case .duplicateMember = ($0 as? JSONSyntaxError)?.reason { true } else { false }
        }
    }

    private func nested(_ count: Int, _ open: String, _ close: String) -> [UInt8] {
        let inner = open == "[" ? "" : "1"
        return Array((String(repeating: open, count: count) + inner + String(repeating: close, count: count)).utf8)
    }

    private func object(_ names: [String]) -> [UInt8] {
        Array("{\(names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ","))}".utf8)
    }
}
