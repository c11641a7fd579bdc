import AuditKit
import SigningKit
import Testing
import TransparencyLog

@Suite("Verification with a policy of witnesses")
struct WitnessVerificationTests {
    /// 2026-11-01T00:00:00Z, in seconds.
    private static let begin: UInt64 = 1_793_491_200

    private let witnesses: [WitnessKey]
    private let policy: WitnessPolicy

    init() throws {
        witnesses = try (1...3).map { try WitnessKey.generate(name: "w.example/\($0)") }
        let lines = witnesses.enumerated().map { "witness w\($0.offset) \($0.element.verifier.text)\n" }.joined()
        policy = try WitnessPolicy(parsing: Array((lines + "group two 2 w0 w1 w2\nquorum two\n").utf8))
    }

    /// A log whose checkpoint over its first eight entries has cosignatures with these times, in seconds after `begin`.
    /// Two more entries follow.
    private func log(cosigned times: [UInt64], lastEntry: Int) throws -> SampleLog {
        var log = try SampleLog(size: 8)
        var note = try SignedNote(parsing: try log.head().note)
        for (key, time) in zip(witnesses, times) { note = try note.adding(key.cosign(note.text, at: time)) }
        log.reader.kept.append(SignedTreeHead(size: 8, note: note.description))
        let time = Timestamp(milliseconds: (Int64(Self.begin) + Int64(lastEntry)) * 1000).text
        for _ in 0..<2 { log.append(Array(#"{"kind":"idle","time":"\#(time)","v":1}"#.utf8)) }
        log.reader.storedHead = try log.head()
        return log
    }

    private func verify(_ log: SampleLog) throws -> AuditReport {
        try AuditVerifier(log.verifiers, policy: policy).verify(log.reader)
    }

    @Test("Two of three witnesses are enough, and the time is that of the second")
    func time() throws {
        let times = [Self.begin + 10, Self.begin + 20, UInt64(Int64.max)]
        let report = try verify(try log(cosigned: times, lastEntry: 60))
        #expect(report.isIntact && report.witnessed?.size == 8)
        #expect(report.witnessed?.time.seconds == Int64(Self.begin) + 20)
    }

    @Test("One witness is too few")
    func tooFew() throws {
        let report = try verify(try log(cosigned: [Self.begin], lastEntry: 60))
        #expect(report.witnessed == nil)
        #expect(report.faults.map(\.description).joined().contains("has the signatures of enough witnesses"))
    }

    @Test(
        "Entries that were written long after the witnesses cosigned are a fault",
        arguments: [(3600, true), (3601, false)])
    func tail(_ seconds: Int, _ isIntact: Bool) throws {
        let report = try verify(try log(cosigned: [Self.begin, Self.begin], lastEntry: seconds))
        #expect(report.isIntact == isIntact)
        if !isIntact { #expect(report.faults.map(\.entries) == [8..<10]) }
    }

    @Test("A witness' own key does not replace the log's")
    func noLog() throws {
        let log = try log(cosigned: [Self.begin, Self.begin], lastEntry: 60)
        let report = try AuditVerifier(witnesses.map(\.verifier), policy: policy).verify(log.reader)
        #expect(!report.isIntact && report.witnessed == nil)
    }
}
