import SigningKit
import Testing

@testable import SignerClient

@Suite("Texts of a signer")
struct SignerTextTests {
    private let text = String(repeating: "é", count: 100_000)

    @Test("An error keeps its kind, and at most 2,000 bytes of its sentence")
    func errors() {
        let errors: [KeyError] = [
            .invalidURI(text), .invalidSetting(name: text, text), .secretUnavailable(text), .loginRefused(text),
            .loginBlocked(text), .notFound(text), .ambiguous(text), .unfit(text), .unavailable(text), .failed(text),
        ]
        for error in errors {
            #expect(error.shortened.description.utf8.count < 2600)
            #expect(error.shortened.concernsLogin == error.concernsLogin)
        }
        for error in [KeyError.busy, .cancelled, .closed, .failed("short")] { #expect(error.shortened == error) }
    }

    @Test("A report keeps its figures, and at most 500 bytes of each name")
    func report() {
        let pool = KeyBackendReport.Pool(
            wanted: 1, ready: .min, busy: .max, hungCalls: 0, queueDepth: 1, queueLimit: 2, reconnects: 3)
        let report = KeyBackendReport(
            health: .degraded(text), name: text,
            token: .init(label: text, manufacturer: text, model: text, serial: text, firmware: text), pool: pool
        ).shortened
        #expect(report.pool == pool)
        let names = [report.name, report.token?.label, report.token?.serial, report.token?.firmware]
        #expect(names.allSatisfy { ($0 ?? text).utf8.count < 510 })
        guard case .degraded(let sentence) = report.health else {
            Issue.record("the health became \(report.health)")
            return
        }
        #expect(sentence.utf8.count < 2010)
    }
}
