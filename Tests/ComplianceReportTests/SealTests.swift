import ComplianceReport
import Foundation
import Signing
import SigningKit
import StrictJSON
import Testing
import TransparencyLog

@Suite("Signatures of compliance reports")
struct SealTests {
    private let signer: NoteSigner
    private let sealed: SignedReport
    private let page: String

    init() throws {
        signer = try NoteSigner.generate(name: "example.com/log")
        let checkpoint = try Checkpoint(origin: "example.com/log", size: 7, root: .leaf([1]))
        let anchor = ComplianceReport.Anchor(note: try signer.sign(checkpoint.text).description, checkpoint)
        let report = Sample.report(Self.findings(anchor))
        (sealed, page) = try SignedReport.make(report, signer: signer)
    }

    @Test("a report verifies with its page after it is parsed again")
    func good() throws {
        let read = try SignedReport(parsing: sealed.bytes)
        #expect(read.report == sealed.report)
        let verified = try read.verify(with: [signer.verifier], page: Array(page.utf8))
        #expect(verified.id == "20261121T120000Z-00000000")
        #expect(verified.made == Sample.now)
        #expect(verified.anchor?.size == 7)
        #expect(verified.verdict.result == .pass && verified.verdict.failed == 0)
        #expect(verified.signers == ["example.com/log"])
    }

    @Test("equal findings give equal reports and pages")
    func canonical() throws {
        let again = try SignedReport.make(Sample.report(Self.findings(nil)), signer: nil)
        let other = try SignedReport.make(Sample.report(Self.findings(nil)), signer: nil)
        #expect(again.report.bytes == other.report.bytes && again.page == other.page)
    }

    @Test(
        "verify finds a changed byte anywhere in the report",
        arguments: [("\"result\":\"pass\"", "\"result\":\"fail\""), ("\"FALSE\"", "\"TRUE\""), ("uid 0", "uid 1")])
    func changed(_ old: String, _ new: String) throws {
        let text = String(decoding: sealed.bytes, as: UTF8.self)
        try #require(text.contains(old))
        let changed = try SignedReport(parsing: Array(text.replacing(old, with: new).utf8))
        #expect(throws: SignedReportError.changed) { try changed.verify(with: [signer.verifier]) }
    }

    @Test("verify finds added white space in the report")
    func reformatted() throws {
        let text = String(decoding: sealed.bytes, as: UTF8.self).replacing("\"version\":1,", with: "\"version\": 1,")
        let changed = try SignedReport(parsing: Array(text.utf8))
        #expect(throws: SignedReportError.changed) { try changed.verify(with: [signer.verifier]) }
    }

    @Test("verify refuses another key and an unsigned report")
    func otherKey() throws {
        let stranger = try NoteSigner.generate(name: "example.com/log").verifier
        #expect(throws: SignedReportError.self) { try sealed.verify(with: [stranger]) }
        let unsigned = try SignedReport.make(Sample.report(Sample.findings()), signer: nil).report
        #expect(throws: SignedReportError.unsigned) {
            try SignedReport(parsing: unsigned.bytes).verify(with: [signer.verifier])
        }
    }

    @Test("verify refuses another page")
    func otherPage() throws {
        let changed = Array(page.replacing("uid 0", with: "uid 1").utf8)
        #expect(throws: SignedReportError.otherPage) { try sealed.verify(with: [signer.verifier], page: changed) }
    }

    @Test("verify refuses the seal of another report and a checkpoint as a seal")
    func otherSeal() throws {
        let other = try SignedReport.make(Sample.report(Sample.findings { $0.audit = .off }), signer: signer).report
        let otherSeal = try #require(other.seal)
        let mixed = try Self.file(sealed.report, otherSeal)
        #expect(throws: SignedReportError.changed) { try mixed.verify(with: [signer.verifier]) }
        let checkpoint = try signer.sign(Checkpoint(origin: "example.com/log", size: 7, root: .leaf([1])).text)
        let fake = try Self.file(sealed.report, checkpoint)
        #expect(throws: SignedReportError.notSeal) { try fake.verify(with: [signer.verifier]) }
    }

    @Test("verify refuses an anchor that differs from its checkpoint")
    func wrongAnchor() throws {
        let checkpoint = try Checkpoint(origin: "example.com/log", size: 7, root: .leaf([1]))
        var anchor = ComplianceReport.Anchor(note: try signer.sign(checkpoint.text).description, checkpoint)
        anchor.size = 8
        let report = try SignedReport.make(Sample.report(Self.findings(anchor)), signer: signer).report
        #expect(throws: SignedReportError.self) { try report.verify(with: [signer.verifier]) }
    }

    @Test(
        "verify refuses text that is not a report",
        arguments: ["", "{}", "[]", "{\"report\":1}", "{\"report\":{},\"seal\":\"x\"}", "{\"a\":1}"])
    func noReport(_ text: String) {
        #expect(throws: SignedReportError.self) {
            try SignedReport(parsing: Array(text.utf8)).verify(with: [signer.verifier])
        }
    }

    @Test("the page escapes all text and shows the digest of the JSON")
    func pageText() throws {
        var findings = Sample.findings()
        findings.clients[0].name = "<script>alert(1)</script>"
        findings.accounts[0].keys[0].look { $0.facts[0].value = "<img src=x onerror=alert(1)>" }
        let hostile = try SignedReport.make(Sample.report(findings), signer: signer).page
        #expect(!hostile.contains("<script") && !hostile.contains("<img"))
        #expect(page.contains(ReportSignatureText.digest(of: sealed.report)))
    }

    @Test("the terminal summary shows the verdict first, then each failure with its cure")
    func text() {
        let report = Sample.report(Sample.findings(.imported) { $0.look { $0.checks[0].fail(with: "TRUE") } })
        #expect(report.text.hasPrefix("FAIL: 1 of "))
        #expect(report.text.contains("attribute.CKA_EXTRACTABLE: TRUE, expected FALSE. Assume that it was copied"))
        let steering = Sample.report(Sample.findings { $0.register = .unknown("\u{1B}[2J") })
        #expect(!steering.text.contains("\u{1B}"))
    }

    // MARK: Parts

    private static func findings(_ anchor: ComplianceReport.Anchor?) -> ComplianceFindings {
        Sample.findings { findings in
            findings.audit = .verified(
                (
                    anchor: anchor, entries: 7, faultCount: 0, faults: [], externalChecked: 2,
                    secondPlace: .otherFileSystem
                ))
        }
    }

    private static func file(_ report: [UInt8], _ seal: SignedNote) throws -> SignedReport {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("report")
            writer.raw(report)
            writer.member("seal", seal.description)
        }
        return try SignedReport(parsing: writer.bytes)
    }
}
