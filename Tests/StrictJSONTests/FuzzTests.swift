import SigningKitTesting
import StrictJSON
import Testing

/// If the reader traps, the test process crashes. The seeds are fixed, so a failure can be reproduced.
@Suite("Robustness of the JSON reader")
struct FuzzTests {
    @Test("the reader refuses a damaged text, or all its values can be read and written again")
    func damagedTexts() throws {
        var mutator = RequestMutator(seed: 0xF022, bodies: Self.texts)
        var accepted = 0
        for index in 0..<100_000 {
            let text = mutator.mutate(Self.texts[index % Self.texts.count])
            guard let document = try? JSONDocument(parsing: text) else { continue }
            accepted += 1
            try checkRewriting(document, text)
        }
        #expect(accepted > 10_000)
    }

    @Test("the reader refuses or reads random bytes without a trap")
    func randomBytes() throws {
        var generator = SplitMix64(seed: 0xB17E)
        for _ in 0..<100_000 {
            let text = (0..<Int.random(in: 0...16, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            guard let document = try? JSONDocument(parsing: text) else { continue }
            try checkRewriting(document, text)
        }
    }

    private func checkRewriting(_ document: JSONDocument, _ text: [UInt8]) throws {
        let tree = try JSONTree(document.root)
        var writer = JSONWriter()
        tree.write(to: &writer)
        guard try JSONTree(JSONDocument(parsing: writer.bytes).root) != tree else { return }
        Issue.record(
            "\(String(decoding: text, as: UTF8.self)) becomes \(String(decoding: writer.bytes, as: UTF8.self))")
    }

    private static let texts: [[UInt8]] = [
        #"{"productId":"com.example.app.monthly","offerIdentifier":"spring2026"}"#,
        #"[1,-2.5,3e2,{"a":[true,false,null,"\u00e9\ud83d\ude00é😀\n",{}],"\u0062":[]}]"#,
    ].map { Array($0.utf8) }
}

extension JSONTree: JSONWritable {
    func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .boolean(let value): writer.boolean(value)
        // A number that overflows a Double is read as infinity, which JSON cannot express.
        case .number(let value): writer.raw((value.isFinite ? "\(value)" : value < 0 ? "-1e999" : "1e999").utf8)
        case .string(let bytes): writer.string(String(decoding: bytes, as: UTF8.self))
        case .array(let elements): writer.array { writer in for element in elements { element.write(to: &writer) } }
        case .object(let members):
            writer.object { writer in
                for (name, value) in members {
                    writer.name(escaping: String(decoding: name, as: UTF8.self))
                    value.write(to: &writer)
                }
            }
        }
    }
}
