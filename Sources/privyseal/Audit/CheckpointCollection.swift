import Glibc
import TransparencyLog

/// A file of checkpoints that were kept elsewhere than the log, read whole.
struct CheckpointCollection {
    let path: String
    /// Whether somebody named it to be compared with; else it is the file that the gateway itself writes.
    let isGiven: Bool
    let notes: [SignedNote]
    /// Pieces of the file that are no checkpoints: a writer was stopped in the middle of one, or somebody changed it.
    let damaged: Int

    /// - Parameter isGiven: whether there must be such a file, with checkpoints; else one that is missing holds nothing.
    init(_ path: String, isGiven: Bool = true) throws(AuditSetupError) {
        self.path = path
        self.isGiven = isGiven
        guard isGiven || access(path, F_OK) == 0 else {
            (notes, damaged) = ([], 0)
            return
        }
        var bytes = try EvidenceFile.contents(of: path)
        // One note alone, as `privyseal audit checkpoint` prints it, has no empty line behind it.
        if bytes.last == UInt8(ascii: "\n"), !bytes.hasSuffix("\n\n") { bytes.append(UInt8(ascii: "\n")) }
        do throws(NoteError) {
            let list = try NoteList(parsing: bytes)
            notes = list.notes
            damaged = list.damaged + (list.remainder.isEmpty ? 0 : 1)
        } catch {
            throw AuditSetupError("\(path) does not hold checkpoints. \(error)")
        }
        guard !isGiven || !notes.isEmpty else {
            throw AuditSetupError(
                "\(path) holds no checkpoint: give a file as audit.checkpoints writes it, with every byte as it was.")
        }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
