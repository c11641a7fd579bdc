import AuditKit
import Crypto
import SigningKit
import Testing
import TransparencyLog

@Suite("Rendering of audit entries")
struct EntryRenderingTests {
    /// 2026-11-21T13:27:00.123Z.
    private static let time = Timestamp(milliseconds: 1_795_267_620_123)

    private static func stored(_ event: AuditEvent, at index: Int = 7) -> StoredEntry {
        stored(AuditEntry(event, at: time).bytes, at: index)
    }

    private static func stored(_ body: [UInt8], at index: Int = 7) -> StoredEntry {
        StoredEntry(index: index, body: body, mark: StoredEntry.mark(of: .leaf(body), at: index))
    }

    private static func signature(_ products: [String], _ offers: [String], item: Int? = nil) -> AuditEvent {
        .signature(
            client: "shop", app: "com.example.app", feature: "promotional-offer", keyID: "2X9R4HXF34",
            fingerprint: Array("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".utf8), tokenSerial: nil,
            subject: OfferSubject(products: products, offers: offers), user: Array("AAAAAAAAAAAAAAAAAAAAAA".utf8),
            digest: SHA256.hash(data: [UInt8]()), issued: time, expires: nil, nonce: Nonce(random: 1, 2),
            requestID: "r-1", item: item,
            keyMicroseconds: 812, requestMicroseconds: 1204)
    }

    // MARK: Lines

    @Test("EntryLine prints the members of a signature in a fixed order")
    func signatureLine() {
        #expect(
            EntryLine.text(Self.stored(Self.signature(["monthly"], ["winback"], item: 2)))
                == "2026-11-21T13:27:00.123Z  7  signature  shop  com.example.app  promotional-offer  monthly/winback  "
                + "2X9R4HXF34  signed  r-1#2")
        #expect(EntryLine.text(Self.stored(Self.signature(["a", "b"], []))).contains("  a,b  "))
    }

    @Test("EntryLine prints a hyphen for each missing member of a refusal")
    func refusalLine() {
        let refusal = AuditEvent.refusal(client: "shop", reason: "invalid-request", status: 400, requestID: "r-2")
        #expect(
            EntryLine.text(Self.stored(refusal))
                == "2026-11-21T13:27:00.123Z  7  refusal  shop  -  -  -  -  invalid-request  r-2")
    }

    @Test("EntryLine prints entries of other kinds with member names")
    func otherLines() {
        #expect(EntryLine.text(Self.stored(.stop)) == "2026-11-21T13:27:00.123Z  7  stop")
        #expect(
            EntryLine.text(Self.stored(.archive(from: 0, to: 4096, actor: "operator"))).hasSuffix(
                "archive  actor=operator  from=0  to=4096"))
        let counts = AuditEvent.refusals(client: nil, minute: Self.time, counts: ["rate-limited": 12, "forbidden": 3])
        #expect(
            EntryLine.text(Self.stored(counts)).contains(#"counts={"forbidden":3,"rate-limited":12}"#))
    }

    @Test(
        "EntryLine and EntryDetail escape line breaks and control characters in values",
        arguments: ["\u{1B}[2J", "\u{7F}", "\n", "\u{202E}", "\u{85}", "\u{2028}"])
    func treachery(_ character: String) {
        let entry = Self.stored(Self.signature(["a\(character)b"], []))
        for text in [EntryLine.text(entry), EntryDetail.text(entry)] {
            #expect(!text.replacing("\n", with: "").contains(character))
            #expect(text.contains("a\\u{"))
        }
        #expect(!EntryLine.text(entry).contains("\n"))
    }

    @Test(
        "every renderer recognizes bytes that are not an entry",
        arguments: ["", "null", "{", "{\"kind\":\n\"idle\"}", "{} "])
    func noEntry(_ body: String) {
        let entry = Self.stored(Array(body.utf8))
        #expect(EntryLine.text(entry).contains("not an entry"))
        #expect(EntryDetail.text(entry).contains("not an entry"))
        #expect(EntryJSON.line(entry) == nil)
        #expect(String(decoding: EntryJSON.indexed(entry), as: UTF8.self).hasPrefix(#"{"index":7,"damaged":""#))
        #expect(EntryCSV.cells(entry) == nil)
    }

    @Test("EntryJSON prints no entry with invalid JSON", arguments: [#"{"kind":idle}"#, #"{"a":[}}"#])
    func noJSON(_ body: String) {
        let entry = Self.stored(Array(body.utf8))
        #expect(EntryJSON.line(entry) == nil)
        #expect(String(decoding: EntryJSON.indexed(entry), as: UTF8.self).hasPrefix(#"{"index":7,"damaged":""#))
    }

    // MARK: Details

    @Test("EntryDetail also prints the hashes in hexadecimal")
    func detail() {
        let text = EntryDetail.text(Self.stored(Self.signature(["monthly"], [])))
        #expect(text.contains("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        #expect(text.contains("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"))
        #expect(text.contains(String(repeating: "00", count: 32)))
        #expect(text.contains("key 812 µs, request 1204 µs"))
        #expect(!text.contains("Attention"))
    }

    @Test("EntryDetail labels a member by its meaning in an entry of that kind")
    func labels() {
        #expect(EntryDetail.text(Self.stored(.archive(from: 0, to: 4096, actor: "a"))).contains("To before entry"))
        let moved = EntryDetail.text(Self.stored(.moved(to: "postgresql://db/logs", actor: "a")))
        #expect(moved.contains("To database  "))
    }

    @Test("EntryDetail warns about an entry that does not match its mark")
    func wrongMark() {
        let entry = Self.stored(.stop)
        let moved = StoredEntry(index: 8, body: entry.body, mark: entry.mark)
        #expect(EntryDetail.text(moved).contains("Attention"))
    }

    // MARK: JSON Lines

    @Test("a line of JSON is the canonical bytes of the entry")
    func jsonLine() {
        let entry = Self.stored(Self.signature(["monthly"], []))
        #expect(EntryJSON.line(entry) == entry.body)
        #expect(EntryJSON.indexed(entry) == Array(#"{"index":7,"entry":"#.utf8) + entry.body + Array("}".utf8))
    }

    // MARK: CSV

    private static func cells(_ event: AuditEvent) throws -> [String: String] {
        let cells = try #require(EntryCSV.cells(stored(event)))
        try #require(cells.count == EntryCSV.header.count)
        return Dictionary(uniqueKeysWithValues: zip(EntryCSV.header, cells)).filter { !$0.value.isEmpty }
    }

    @Test("a CSV row has a cell for each member of a signature")
    func signatureCells() throws {
        #expect(
            try Self.cells(Self.signature(["a", "b"], ["x y"], item: 0)) == [
                "index": "7", "time": "2026-11-21T13:27:00.123Z", "kind": "signature", "outcome": "signed",
                "client": "shop",
                "app": "com.example.app", "feature": "promotional-offer", "products": "a b", "offers": #"["x y"]"#,
                "key": "2X9R4HXF34", "fingerprint": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "requestId": "r-1",
                "item": "0", "nonce": String(decoding: Nonce(random: 1, 2).text, as: UTF8.self),
                "digest": "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "user": "AAAAAAAAAAAAAAAAAAAAAA",
                "keyMicroseconds": "812", "requestMicroseconds": "1204", "v": "1",
            ])
    }

    @Test("the CSV column other holds the members without a column")
    func otherCells() throws {
        let outage = try Self.cells(.outage(milliseconds: 5, reason: "full", refused: 2, lostEvents: 0))
        #expect(outage["other"] == #"{"lostEvents":0,"milliseconds":5,"reason":"full","refused":2}"#)
        let clock = try Self.cells(.clock(before: Self.time, milliseconds: -5))
        #expect(clock["other"] == #"{"before":"2026-11-21T13:27:00.123Z","milliseconds":-5}"#)
        let counts = AuditEvent.refusals(
            client: "shop", minute: Self.time, counts: ["rate-limited": 12, "forbidden": 3])
        let refusals = try Self.cells(counts)
        #expect(refusals["outcome"] == "forbidden rate-limited")
        #expect(
            refusals["other"] == #"{"counts":{"forbidden":3,"rate-limited":12},"minute":"2026-11-21T13:27:00.123Z"}"#)
        let refusal = AuditEvent.refusal(client: "shop", reason: "invalid-request", status: 400, requestID: "r-2")
        let cells = try Self.cells(refusal)
        #expect(cells["outcome"] == "invalid-request" && cells["status"] == "400" && cells["other"] == nil)
    }

    @Test("CSV quotes commas, quotation marks and line ends as in RFC 4180")
    func quoting() {
        let row = CSV.row(["a", "b,c", "d\"e", "f\r\ng", "=1+1", ""])
        #expect(String(decoding: row, as: UTF8.self) == "a,\"b,c\",\"d\"\"e\",\"f\r\ng\",=1+1,\r\n")
    }
}
