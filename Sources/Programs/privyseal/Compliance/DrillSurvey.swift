import AuditKit
import ComplianceReport
import Crypto
import Encodings
import Foundation
import KeyDrills
import StrictJSON
import TransparencyLog

/// Reads the drill records in a directory, and compares them with a verified audit log.
struct DrillSurvey {
    let archive: DrillArchive
    /// Nil for a gateway that belongs to no fleet.
    let fleet: FleetDrillSurvey?

    /// - Parameters:
    ///   - reader: of a log that is verified up to the head.
    ///   - head: nil for a log without entries.
    func findings(
        _ reader: any AuditReader, _ head: SignedTreeHead?, _ verifiers: [NoteVerifier]
    ) throws(AuditStoreError) -> DrillFindings {
        let first = try reader.firstIndex()
        var logged = try Self.logged(reader, first..<max(first, head?.size ?? 0))
        var (records, complaints) = read()
        for index in records.indices {
            do {
                // The verified log contains its entries; of an archived entry, only the proof is left.
                if let proof = try proof(of: records[index], verifiers), proof.entry < first { logged.append(proof) }
                try Self.check(records[index], reader, head, verifiers)
            } catch {
                records[index].fault = "\(error)"
            }
        }
        logged.sort { $0.entry < $1.entry }
        var evidence = DrillEvidence(
            directory: archive.directory, records: records, logged: logged, complaints: complaints)
        fleet?.add(to: &evidence)
        return .read(evidence)
    }

    private static func logged(
        _ reader: any AuditReader, _ range: Range<Int>
    ) throws(AuditStoreError) -> [LoggedDrill] {
        var logged: [LoggedDrill] = []
        try reader.entries(in: range) { entry in
            if let drill = LoggedDrill(entry.body, at: entry.index) { logged.append(drill) }
            return true
        }
        return logged
    }

    private func read() -> (records: [DrillFinding], complaints: [String]) {
        var names: [String] = []
        var records: [DrillFinding] = []
        var complaints: [String] = []
        do { names = try FileManager.default.contentsOfDirectory(atPath: archive.directory) } catch {
            // The directory does not exist before the first drill.
            if FileFacts(archive.directory) != nil {
                complaints.append("\(archive.directory) cannot be read: \(error.localizedDescription)")
            }
        }
        for name in names.sorted() where name.hasSuffix(".json") {
            let path = "\(archive.directory)/\(name)"
            do {
                let bytes = try InputFile.contents(ofFile: path, limit: InputFile.Limit.report)
                let digest = Base64.url.encode(Array(SHA256.hash(data: bytes)))
                let record = try DrillFinding(
                    from: try JSONDocument(parsing: bytes).root, file: path,
                    digest: String(decoding: digest, as: UTF8.self))
                // A copy under another name is not a second drill.
                guard name == "\(record.id).json" else {
                    throw CommandError("a record's file is named after its ID, and this has another name.")
                }
                records.append(record)
            } catch {
                complaints.append("\(path) is not the record of a drill: \(error)")
            }
        }
        return (records, complaints)
    }

    // MARK: Evidence

    /// - Returns: the entry that the proof beside a record proves; nil without a proof.
    /// - Throws: a sentence, if the proof is invalid.
    private func proof(of record: DrillFinding, _ verifiers: [NoteVerifier]) throws -> LoggedDrill? {
        guard DrillID.isWellFormed(record.id) else { return nil }
        let path = archive.path(record.id, DrillArchive.proofEnding)
        guard FileFacts(path) != nil else { return nil }
        let bytes = try InputFile.contents(ofFile: path, limit: InputFile.Limit.proof)
        let proof = try InclusionProofDocument(parsing: bytes)
        try proof.check(with: verifiers)
        guard let drill = LoggedDrill(proof.entry, at: proof.index),
            drill.id == record.id, drill.digest == record.digest
        else { throw CommandError("\(path) proves another entry than that of the drill \(record.id).") }
        return drill
    }

    /// Checks that a record of a drill on a serving gateway has a checkpoint of the log.
    private static func check(
        _ record: DrillFinding, _ reader: any AuditReader, _ head: SignedTreeHead?, _ verifiers: [NoteVerifier]
    ) throws {
        guard !record.isTemporary, let head else { return }
        guard let note = record.checkpoint else {
            throw CommandError("The record of the drill \(record.id) names no checkpoint of the audit log.")
        }
        let checkpoint = try Checkpoint(SignedNote(parsing: note), signedByLogWith: verifiers)
        do throws(AuditProofError) {
            _ = try AuditProver(reader).consistency(from: SignedTreeHead(size: checkpoint.size, note: note), to: head)
        } catch .archived {
            // Without the archive, only the checkpoint's signature can be checked.
            return
        }
    }
}
