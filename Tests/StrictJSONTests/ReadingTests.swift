import StrictJSON
import Testing

@Suite("Reading a JSON value")
struct ReadingTests {
    @Test("an integer is read up to the bounds of 64 bits")
    func integers() throws {
        #expect(try root("9223372036854775807").integer() == .max)
        #expect(try root("-9223372036854775808").integer() == .min)
        #expect(try root("-0").integer() == 0)
        #expect(try root("0").integer() == 0)
    }

    @Test(
        "a number that is not a 64-bit integer is refused, not rounded",
        arguments: ["9223372036854775808", "-9223372036854775809", "1.0", "1e3", "1E3", "0.5", "1e-1", "1e400"])
    func notIntegers(_ text: String) throws {
        #expect(throws: JSONReadError.self) { try root(text).integer() }
    }

    @Test("the reader converts no kind of value into another")
    func kinds() throws {
        let texts: [(JSONKind, String)] = [
            (.object, "{}"), (.array, "[]"), (.string, #""1""#), (.number, "1"), (.boolean, "true"), (.null, "null"),
        ]
        for (kind, text) in texts {
            let value = try root(text)
            #expect(value.kind == kind)
            #expect((try? value.string()) == (kind == .string ? "1" : nil))
            #expect((try? value.integer()) == (kind == .number ? 1 : nil))
            #expect((try? value.boolean()) == (kind == .boolean ? true : nil))
            #expect((try? value.elements())?.count == (kind == .array ? 0 : nil))
            #expect((try? value.anyObject())?.names == (kind == .object ? [] : nil))
        }
        #expect(throws: JSONReadError(.wrongKind(expected: .string, found: .null))) { try root("null").string() }
    }

    @Test("the reader decodes the escapes of a string and normalises nothing")
    func strings() throws {
        #expect(try root(#""\"\\\/\b\f\n\r\t\u0041\u00e9""#).string() == "\"\\/\u{8}\u{C}\n\r\tA\u{E9}")
        #expect(try Array(root("\"e\u{301}\"").string().utf8) == [0x65, 0xCC, 0x81])
        #expect(
            try Array(root(#""\ud83d\ude00\uFFFF\u0000""#).string().utf8) == [
                0xF0, 0x9F, 0x98, 0x80, 0xEF, 0xBF, 0xBF, 0,
            ])
        #expect(try root(#""\uDBFF\uDFFF\uD800\uDC00""#).string() == "\u{10FFFF}\u{10000}")
    }

    @Test("raw bytes are the original bytes without the surrounding space")
    func rawBytes() throws {
        let object = try root(" { \"a\" :  { \"b\" : [ 1 , 2.50 , \"\\u0041\" ] }  , \"c\":1e5 } ").anyObject()
        #expect(text(of: object["a"]) == "{ \"b\" : [ 1 , 2.50 , \"\\u0041\" ] }")
        #expect(text(of: object["c"]) == "1e5")
        let elements = try #require(object["a"]).anyObject()["b"]?.elements() ?? []
        #expect(elements.map(text(of:)) == ["1", "2.50", "\"\\u0041\""])
    }

    @Test("members keep their order and are found by their decoded names")
    func members() throws {
        let object = try root(#"{"z":1,"\u0061b":[{"c":2}],"":3,"é":4}"#).anyObject()
        #expect(object.names == ["z", "ab", "", "é"])
        #expect(object.members.map(\.value.kind) == [.number, .array, .number, .number])
        #expect(try object["ab"]?.elements().count == 1)
        #expect(try object[""]?.integer() == 3)
        #expect(try object["é"]?.integer() == 4)
        // Canonically equivalent, but a different name.
        #expect(object["e\u{301}"] == nil)
        #expect(object["c"] == nil)
        #expect(object["abc"] == nil)
    }

    @Test("an error repeats at most 100 characters of a name or a number")
    func excerpts() throws {
        let long = String(repeating: "1", count: 5000)
        for text in [
            #"{"a\#(long)":0}"#, #"{"a":0,"a":1}"#.replacing("\"a\"", with: "\"\(long)\""), "{\"n\":\(long).5}",
        ] {
            let message: String
            do {
                let object = try root(text).object(members: ["n"])
                _ = try object.required("n") { value throws(JSONReadError) in try value.integer() }
                message = ""
            } catch {
                message = "\(error)"
            }
            #expect(message.contains("…") && message.count < 300)
        }
    }

    @Test("an error gives the path from the root")
    func paths() throws {
        let value = try root(#"{"request":{"items":[{"SKU":"a"},{"SKU":7}]},"m":[[1,"x"]]}"#)
        #expect(throws: JSONReadError(.wrongKind(expected: .string, found: .number), at: "request.items[1].SKU")) {
            try value.anyObject().required("request") { request throws(JSONReadError) in
                try request.anyObject().required("items") { items throws(JSONReadError) in
                    try items.elements { item throws(JSONReadError) in
                        try item.object(members: ["SKU"]).required("SKU") { sku throws(JSONReadError) in
                            try sku.string()
                        }
                    }
                }
            }
        }
        #expect(throws: JSONReadError(.wrongKind(expected: .number, found: .string), at: "m[0][1]")) {
            try value.anyObject().required("m") { rows throws(JSONReadError) in
                try rows.elements { row throws(JSONReadError) in
                    try row.elements { cell throws(JSONReadError) in try cell.integer() }
                }
            }
        }
    }

    @Test("a missing member, an unknown member and null differ")
    func absence() throws {
        let object = try root(#"{"a":null}"#).anyObject()
        #expect(throws: JSONReadError(.missing, at: "b")) { try object.required("b", string) }
        #expect(try object.optional("b", string) == nil)
        #expect(throws: JSONReadError(.wrongKind(expected: .string, found: .null), at: "a")) {
            try object.optional("a", string)
        }
        #expect(throws: JSONReadError(.unknown(known: ["b", "c"]), at: "a")) {
            try root(#"{"a":null}"#).object(members: ["b", "c"])
        }
        #expect(throws: Never.self) { try root(#"{"\u0061":null}"#).object(members: ["a"]) }
    }

    @Test("an error message names the member and the cure")
    func sentences() {
        #expect(
            JSONReadError(.unknown(known: ["productId"]), at: "productID").description
                == #""productID" is not a known member; the members are productId."#)
        #expect(JSONReadError(.missing, at: "a").description == #""a" is missing; it is required."#)
        #expect(
            JSONReadError(.wrongKind(expected: .object, found: .array)).description
                == "The body is an array; it must be an object.")
    }

    private func root(_ text: String) throws -> JSONValue { try JSONDocument(parsing: Array(text.utf8)).root }

    private func text(of value: JSONValue?) -> String {
        String(decoding: value?.rawBytes ?? [], as: UTF8.self)
    }

    private func string(_ value: JSONValue) throws(JSONReadError) -> String { try value.string() }
}
