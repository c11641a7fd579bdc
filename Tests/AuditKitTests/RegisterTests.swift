import AuditKit
import SigningKit
import Testing

@Suite("Verification of registers")
struct RegisterTests {
    private static let time = Timestamp(milliseconds: 1_795_250_162_277)
    private static let value = Array(#"{"state":"active"}"#.utf8)

    /// A log with two entries of a register among others.
    private static func log() throws -> SampleLog {
        var log = try SampleLog(size: 3)
        log.append(entry(Array("{}".utf8), from: nil, to: "staged"))
        log.append(entry(value))
        log.append(SampleLog.body(5))
        log.reader.storedHead = try log.head()
        log.reader.registered = [AuditRegister(name: "key/A", value: value, entry: 4)]
        return log
    }

    private static func entry(_ value: [UInt8], from: String? = "staged", to: String = "active") -> [UInt8] {
        let record = KeyLifecycleEntry(
            .changed, action: "activate", issuerID: "issuer", keyID: "A", actor: "anna", reason: "Its time has come.",
            from: from, to: to)
        return AuditEntry(.life(record, register: (name: "key/A", value: value)), at: time).bytes
    }

    private static func sentence(_ name: String, _ entry: Int) -> String {
        "The register \(name) is not what entry \(entry) says: it was changed, or an older value was restored."
    }
    private static let missing = "The register key/A, which entry 4 records, is missing."
    private static let unrecorded = "No entry records the register key/B: another program wrote it."

    @Test("verify accepts a register that matches its last entry")
    func intact() throws {
        #expect(try Self.log().verify().isIntact)
    }

    @Test(
        "verify finds a register that was changed, restored, forged or removed",
        arguments: [
            (AuditRegister(name: "key/A", value: Array("{ }".utf8), entry: 4), sentence("key/A", 4)),
            (AuditRegister(name: "key/A", value: Array("{}".utf8), entry: 3), sentence("key/A", 4)),
            (AuditRegister(name: "key/A", value: value, entry: 9), sentence("key/A", 4)),
            (AuditRegister(name: "key/B", value: value, entry: 4), missing),
            (AuditRegister(name: "key/B", value: value, entry: 4), unrecorded),
        ])
    func changed(_ register: AuditRegister, _ fault: String) throws {
        let log = try Self.log()
        log.reader.registered = [register]
        #expect(try log.verify().faults.map(\.description).contains(fault))
    }

    @Test("verify finds a restored register from a change that begins at another state")
    func laundered() throws {
        var log = try Self.log()
        // An attacker restored the staged key, which was activated again; or removed the register, which was adopted.
        for from in ["staged", nil] {
            log.append(Self.entry(Self.value, from: from))
        }
        log.reader.storedHead = try log.head()
        log.reader.registered = [AuditRegister(name: "key/A", value: Self.value, entry: 7)]
        #expect(try log.verify().faults.map(\.description) == [6, 7].map { Self.sentence("key/A", $0) })
    }

    @Test(
        "verify finds a changed, removed or added register whose entries are archived",
        arguments: [
            [AuditRegister(name: "key/A", value: Array("{}".utf8), entry: 1)],
            [AuditRegister(name: "key/A", value: value, entry: 2)],
            [AuditRegister(name: "key/B", value: value, entry: 1)],
            [],
            [
                AuditRegister(name: "key/A", value: value, entry: 1),
                AuditRegister(name: "key/B", value: value, entry: 0),
            ],
        ])
    func sealed(_ registers: [AuditRegister]) throws {
        var log = try SampleLog(size: 1)
        log.append(Self.entry(Self.value))
        for index in 2...AuditSegment.size { log.append(SampleLog.body(index)) }
        let right = [AuditRegister(name: "key/A", value: Self.value, entry: 1)]
        _ = try log.archive(segments: 1)
        log.reader.storedHead = try log.head(seal: RegistersLine.line(over: right))
        log.reader.registered = right
        #expect(try log.verify().isIntact)
        log.reader.registered = registers
        #expect(
            try log.verify().faults.map(\.description) == [
                "The registers do not match the signed head: one was changed, restored, added or removed. If its entry "
                    + "is archived, the archive shows which."
            ])
    }

    @Test("RegistersLine matches the documented format")
    func seal() {
        let register = AuditRegister(name: "key/A", value: Self.value, entry: 258)
        #expect(RegistersLine.line(over: []) == "registers 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        #expect(RegistersLine.line(over: [register]) == "registers Xt5pbIKP8pA5qdf7YeQ7vJ6XKCRdqiE1h590mw6+FYY=")
    }

    @Test("A register entry has its members in order and the digest of the value")
    func canonical() {
        let text = String(decoding: Self.entry(Self.value), as: UTF8.self)
        #expect(
            text
                == #"{"action":"activate","actor":"anna","digest":"VoBvbhurNyTRCwqC1228KaTqE9MWHQi6orVe2XFxDtY","event":"changed","#
                + #""from":"staged","issuer":"issuer","key":"A","kind":"life","reason":"Its time has come.","register":"key/A","#
                + #""time":"2026-11-21T08:36:02.277Z","to":"active","v":1}"#)
    }
}
