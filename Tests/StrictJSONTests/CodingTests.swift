import StrictJSON
import Testing

@Suite("Encoding and decoding by Codable")
struct CodingTests {
    private enum Colour: String, Codable {
        case red
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        case kelvin = "K"
    }

    private struct Part: Codable, Equatable {
        var time: String
        @OmittedIfEmpty var notes: [String: String] = [:]
        var count: Int?

        enum CodingKeys: String, CodingKey {
            case time = "at"
            case notes, count
        }
    }

    private struct Whole: Codable, Equatable {
        var size: UInt8
        var colour = Colour.red
        @OmittedIfEmpty var omitted = 0
        var parts: [Part] = []
        var ratio = 1.5

        enum CodingKeys: String, ClosedCodingKey {
            case size, colour, omitted, parts, ratio
        }
    }

    private static let whole = Whole(
        size: 3, parts: [Part(time: "x\"", notes: ["b": "1", "a": "2"], count: 4), Part(time: "y")])

    @Test("members keep the order of the type, dictionaries are sorted, and empty or absent values are left out")
    func encoding() throws {
        let text = JSONText.string(Self.whole)
        #expect(
            text == #"{"size":3,"colour":"red","parts":[{"at":"x\"","notes":{"a":"2","b":"1"},"count":4},{"at":"y"}],"#
                + #""ratio":1.5}"#)
        #expect(try JSONDocument(parsing: Array(text.utf8)).root.decode(Whole.self) == Self.whole)
    }

    @Test("an object with many members is decoded like one with few, with the same errors")
    func manyMembers() throws {
        let names = Dictionary(uniqueKeysWithValues: (0..<2000).map { ("name \($0)", $0) })
        let document = try JSONDocument(parsing: JSONText.encode(names))
        #expect(try document.root.decode([String: Int].self) == names)
        let error = try #require(throws: JSONReadError.self) { try document.root.decode([String: UInt8].self) }
        #expect(error.description.hasSuffix(" is out of range."))
        let missing = try #require(throws: JSONReadError.self) { try document.root.decode(Part.self) }
        #expect(missing == JSONReadError(.missing, at: "at"))
    }

    @Test("a literal of members leaves out nil, and writes null only for an optional that is given as a value")
    func members() {
        let nothing: String? = nil
        let members: JSONMembers = [
            "a": nothing, "b": [1, 2], "c": ["x": nothing] as JSONMembers, "d": .some(nothing as any Encodable),
            "b": true, "e": Double.infinity,
        ]
        #expect(JSONText.string(members) == #"{"b":[1,2],"c":{},"d":null,"b":true,"e":null}"#)
    }

    @Test(
        "an unacceptable value is refused with its place",
        arguments: [
            (#"{"size":256,"colour":"red","parts":[],"ratio":1}"#, #""size" is out of range."#),
            (#"{"size":1.0,"colour":"red","parts":[],"ratio":1}"#, "without fraction"),
            (#"{"size":1,"colour":"blue","parts":[],"ratio":1}"#, #""colour" is not a known value."#),
            ("{\"size\":1,\"colour\":\"\u{212A}\",\"parts\":[],\"ratio\":1}", #""colour" is not a known value."#),
            (#"{"size":1,"colour":"red","parts":[{"at":"x"},{}],"ratio":1}"#, #""parts[1].at" is missing"#),
            (#"{"size":1,"colour":"red","parts":[{"at":"x","count":null}],"ratio":1}"#, #""parts[0].count" is null"#),
            (#"{"size":1,"colour":"red","parts":[],"ratio":"1"}"#, #""ratio" must be a number"#),
            (#"{"size":1,"colour":"red","parts":[],"ratio":1,"x":2}"#, #""x" is not a known member"#),
            (#"[]"#, "must be an object"),
        ])
    func refusals(text: String, sentence: String) throws {
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        #expect { try root.decode(Whole.self) } throws: { "\($0)".contains(sentence) }
    }

    @Test("a type whose keys are not closed ignores unknown members")
    func unknownMembers() throws {
        let root = try JSONDocument(parsing: Array(#"{"at":"x","later":[null]}"#.utf8)).root
        #expect(try root.decode(Part.self) == Part(time: "x"))
    }
}
