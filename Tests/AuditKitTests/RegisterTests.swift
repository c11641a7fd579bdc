import AuditKit
import SigningKit
import Testing

@Suite("Registers, and the entries that tell of them")
struct RegisterTests {
    private static let time = Timestamp(milliseconds: 1_795_250_162_277)
    private static let value = Array(#"{"state":"active"}"#.utf8)

    /// Two entries of a register between others.
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
        let record = LifeRecord(
            .changed, action: "activate", issuerID: "issuer", keyID: "A", actor: "anna", reason: "Its time has come.",
            from: from, to: to)
        return AuditEntry(.life(record, register: (name: "key/A", value: value)), at: time).canonical.bytes
    }

    @Test("One that is as its last entry says is fine")
    func intact() throws {
        #expect(try Self.log().verify().isIntact)
    }

    @Test(
        "One that is not as its last entry says was changed, put back, written by somebody else, or taken out",
        arguments: [
            (AuditRegister(name: "key/A", value: Array("{ }".utf8), entry: 4), AuditFault.register("key/A", 4)),
            (AuditRegister(name: "key/A", value: Array("{}".utf8), entry: 3), .register("key/A", 4)),
            (AuditRegister(name: "key/A", value: value, entry: 9), .register("key/A", 4)),
            (AuditRegister(name: "key/B", value: value, entry: 4), .registerMissing("key/A", 4)),
            (AuditRegister(name: "key/B", value: value, entry: 4), .register("key/B", nil)),
        ])
    func changed(_ register: AuditRegister, _ fault: AuditFault) throws {
        let log = try Self.log()
        log.reader.registered = [register]
        #expect(try log.verify().faults.contains(fault))
    }

    @Test("A change that goes on from another state than the last shows that a register was put back meanwhile")
    func laundered() throws {
        var log = try Self.log()
        // Somebody put the staged key back, and it was activated again; or took the register out, and it was adopted.
        for from in ["staged", nil] {
            log.append(Self.entry(Self.value, from: from))
        }
        log.reader.storedHead = try log.head()
        log.reader.registered = [AuditRegister(name: "key/A", value: Self.value, entry: 7)]
        #expect(try log.verify().faults == [.register("key/A", 6), .register("key/A", 7)])
    }

    @Test(
        "Registers whose entries are archived cannot be changed, taken out or added either: the head was signed for all",
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
        log.reader.storedHead = try log.head(seal: RegisterSeal.line(over: right))
        log.reader.registered = right
        #expect(try log.verify().isIntact)
        log.reader.registered = registers
        #expect(try log.verify().faults == [.registers])
    }

    @Test("The seal is what its format says")
    func seal() {
        let register = AuditRegister(name: "key/A", value: Self.value, entry: 258)
        #expect(RegisterSeal.line(over: []) == "registers 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        #expect(RegisterSeal.line(over: [register]) == "registers Xt5pbIKP8pA5qdf7YeQ7vJ6XKCRdqiE1h590mw6+FYY=")
    }

    @Test("An entry has its members in order, and the digest of the value")
    func canonical() {
        let text = String(decoding: Self.entry(Self.value), as: UTF8.self)
        #expect(
            text
                == #"{"action":"activate","actor":"anna","digest":"VoBvbhurNyTRCwqC1228KaTqE9MWHQi6orVe2XFxDtY","event":"changed","#
                + #""from":"staged","issuer":"issuer","key":"A","kind":"life","reason":"Its time has come.","register":"key/A","#
                + #""time":"2026-11-21T08:36:02.277Z","to":"active","v":1}"#)
    }
}
