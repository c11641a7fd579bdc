import AuditKit
import Glibc
import TransparencyLog

/// A file of checkpoints kept outside the log.
struct CheckpointCollection {
    let path: String
    /// Whether a command line option names the file; otherwise it is the gateway's own checkpoint file.
    let isGiven: Bool
    /// Whether the checkpoints are entries of another log in the same database.
    var isInDatabase = false
    let checkpoints: ExternalCheckpoints
    /// Parts of the file that are not checkpoints, for example because a writer was stopped or the file was changed.
    let damaged: Int

    /// How many of the newest checkpoints are searched for one with enough witnesses: a week of one a minute.
    static let searched = 10_080

    /// - Parameter isGiven: if true, the file must exist and contain checkpoints. Otherwise it may be missing.
    init(_ path: String, isGiven: Bool = true) throws(CommandError) {
        self.path = path
        self.isGiven = isGiven
        guard isGiven || access(path, F_OK) == 0 else {
            (checkpoints, damaged) = (ExternalCheckpoints([]), 0)
            return
        }
        // A pipe in the configuration may have no writer, and reading would block. A pipe on the command line has one.
        guard isGiven || FileFacts(path)?.isRegular == true else {
            throw CommandError("\(path) is not a regular file: audit.checkpoints.file has to be one.")
        }
        let file = try InputCopy(of: path)
        var scanner = NoteScanner()
        do throws(AuditStoreError) {
            checkpoints = try ExternalCheckpoints { (visit) throws(AuditStoreError) in
                do throws(CommandError) {
                    scanner = try Self.scan(file, visit)
                } catch {
                    throw .damaged(error.description)
                }
            }
        } catch {
            throw CommandError(error.description)
        }
        damaged = scanner.damaged + (scanner.remainder.isEmpty ? 0 : 1)
        guard checkpoints.count == 0 else { return }
        if scanner.damaged > 0 {
            throw CommandError("\(path) does not hold checkpoints. \(scanner.failure ?? .unsigned)")
        }
        guard !isGiven, scanner.remainder.isEmpty else {
            throw CommandError(
                "\(path) holds no checkpoint\(isGiven ? "" : ", but another text"): give an unchanged file that "
                    + "audit.checkpoints has written.")
        }
    }

    /// The checkpoints of gateways that a log has as entries: that of a fleet.
    init(in reader: any AuditReader) throws(AuditStoreError) {
        path = "the log \(reader.identity.origin)"
        (isGiven, isInDatabase) = (false, true)
        var query = AuditQuery()
        query.terms[.kind] = "checkpoint"
        query.isLatestFirst = false
        // Entries that are appended meanwhile do not count.
        query.indexes = 0..<(try reader.head()?.size ?? 0)
        let source = query
        var damaged = 0
        checkpoints = try ExternalCheckpoints { (visit) throws(AuditStoreError) in
            var unreadable = 0
            try reader.search(source) { entry in
                let note = EntryFields(entry.body)?.text("note").flatMap { try? SignedNote(parsing: $0) }
                if let note { visit(note) } else { unreadable += 1 }
                return true
            }
            damaged = unreadable
        }
        self.damaged = damaged
    }

    private init(_ checkpoints: ExternalCheckpoints, of file: CheckpointCollection) {
        (path, isGiven, isInDatabase, damaged) = (file.path, file.isGiven, file.isInDatabase, file.damaged)
        self.checkpoints = checkpoints
    }

    /// The checkpoints of one log among those in the file.
    func only(of origin: String) throws(AuditStoreError) -> CheckpointCollection {
        CheckpointCollection(try checkpoints.only(of: origin), of: self)
    }

    /// Whether the file is in the log's directory: write access to one then means write access to the other.
    func isBeside(_ database: String) -> Bool { Self.directory(of: path) == Self.directory(of: database) }

    /// Follows symbolic links.
    private static func directory(of path: String) -> String {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        return DurableWrite.directory(of: resolved.map { String(cString: $0) } ?? path)
    }

    private static func scan(
        _ file: InputCopy, _ visit: (SignedNote) -> Void
    ) throws(CommandError) -> NoteScanner {
        var scanner = NoteScanner()
        try file.read { scanner.read($0, visit) }
        // A single note, as `privyseal audit checkpoint` prints it, has no empty line after it.
        if scanner.remainder.last == UInt8(ascii: "\n") { scanner.read([UInt8(ascii: "\n")], visit) }
        return scanner
    }
}
