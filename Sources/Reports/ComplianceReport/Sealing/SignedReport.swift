import AuditKit
public import SigningKit
import StrictJSON
public import TransparencyLog

/// A report with its signature, as stored in a file: `{"report":{…},"seal":"…"}`.
public struct SignedReport: Sendable {
    /// The report's JSON, exactly as signed.
    public let report: [UInt8]
    /// Nil for an unsigned report.
    public let seal: SignedNote?

    /// - Parameter signer: The audit log's key; nil without an audit log.
    /// - Returns: The report for its file, and the HTML page.
    public static func make(
        _ report: ComplianceReport, signer: NoteSigner?
    ) throws(NoteError) -> (report: SignedReport, page: String) {
        let json = JSONText.encode(report)
        let digest = ReportSignatureText.digest(of: json)
        let page = report.page(digest: digest, isSigned: signer != nil)
        let seal = ReportSignatureText(id: report.id, json: digest, html: ReportSignatureText.digest(of: page.utf8))
        let note: SignedNote? = if let signer { try signer.sign(seal.text) } else { nil }
        return (SignedReport(report: json, seal: note), page)
    }

    private init(report: [UInt8], seal: SignedNote?) {
        self.report = report
        self.seal = seal
    }

    public init(parsing bytes: [UInt8]) throws(SignedReportError) {
        do {
            let object = try JSONDocument(parsing: bytes).root.object(members: ["report", "seal"])
            report = try object.required("report") { Array($0.rawBytes) }
            let text: String? = try object.decodeIfPresent("seal")
            seal = try text.map { text throws(NoteError) in try SignedNote(parsing: text) }
        } catch {
            throw .notReport("\(error)")
        }
    }

    /// The file's contents, with a newline at the end.
    public var bytes: [UInt8] {
        var writer = JSONWriter(capacity: report.count + 1024)
        writer.object { writer in
            writer.name("report")
            writer.raw(report)
            if let seal { writer.member("seal", seal.description) }
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// Verifies the signature, the checkpoint in the report and, if given, the page.
    ///
    /// - Parameters:
    ///   - verifiers: The audit log's public keys, obtained independently of the report.
    ///   - page: The report's HTML.
    public func verify(with verifiers: [NoteVerifier], page: [UInt8]? = nil) throws(SignedReportError) -> VerifiedReport
    {
        guard let note = seal else { throw .unsigned }
        let signers: [NoteVerifier]
        do throws(NoteError) { signers = try note.verify(with: verifiers) } catch { throw .wrongSignature("\(error)") }
        guard let seal = ReportSignatureText(parsing: note.text) else { throw .notSeal }
        guard seal.json == ReportSignatureText.digest(of: report) else { throw .changed }
        var verified: VerifiedReport
        do { verified = try JSONDocument(parsing: report).root.decode() } catch { throw .notReport("\(error)") }
        verified.signers = signers.map(\.name)
        guard verified.id == seal.id else { throw .changed }
        if let page, ReportSignatureText.digest(of: page) != seal.html { throw .otherPage }
        if let anchor = verified.anchor { try Self.check(anchor, signedBy: verifiers) }
        return verified
    }

    /// Verifies the checkpoint, and compares it with the members of the anchor.
    private static func check(
        _ anchor: ComplianceReport.Anchor, signedBy verifiers: [NoteVerifier]
    ) throws(SignedReportError) {
        let checkpoint: Checkpoint
        do { checkpoint = try Checkpoint(SignedNote(parsing: anchor.note), signedByLogWith: verifiers) } catch {
            throw .wrongAnchor("\(error)")
        }
        guard ComplianceReport.Anchor(note: anchor.note, checkpoint) == anchor else {
            throw .wrongAnchor("It is not the one that the report names.")
        }
    }
}

/// The contents of a report with a verified signature.
public struct VerifiedReport: Decodable, Sendable {
    public struct Verdict: Decodable, Sendable {
        public let result: ComplianceCheck.Result
        public let failed: Int
        public let unavailable: Int
    }

    public let id: String
    public let made: Timestamp
    public let verdict: Verdict
    public let anchor: ComplianceReport.Anchor?
    /// The names of the keys that signed the report.
    public internal(set) var signers: [String] = []

    private enum CodingKeys: String, CodingKey {
        case id, made, verdict, anchor
    }
}

/// Why the verification of a report failed: a sentence.
public struct SignedReportError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    public static let unsigned = Self("The report is not signed: its installation has no audit log.")
    /// The signature is valid, but not of a compliance report.
    public static let notSeal = Self("The signature is not for a compliance report.")
    public static let changed = Self("The report was changed after it was signed.")
    public static let otherPage = Self("The page does not belong to this report, or it was changed.")

    static func notReport(_ reason: String) -> Self { Self("It is not a compliance report. \(reason)") }
    static func wrongSignature(_ reason: String) -> Self { Self("The report's signature is not valid. \(reason)") }
    public static func wrongAnchor(_ reason: String) -> Self {
        Self("The checkpoint in the report is not valid. \(reason)")
    }
}
