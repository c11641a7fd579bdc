extension AuditFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .store(let sentence): sentence
        case .missingHead(let count):
            "The log has \(Sentence.number(count)) entries, but no head: no signature covers them."
        case .checkpoint(let size, let source, let reason):
            "The \(source.name) of \(Sentence.number(size)) entries is not valid: \(reason)"
        case .truncated(let size, let checkpoint, let source):
            "The log ends at \(Sentence.number(size)), but a \(source.name) covers \(Sentence.number(checkpoint)) "
                + "entries: it was truncated, or an older copy was restored. A copy that was made before the "
                + "checkpoint looks the same."
        case .changed(let entries):
            entries.count == 1
                ? "\(Sentence.entries(entries)) is not what was recorded: its bytes were changed."
                : "\(Sentence.entries(entries)) are not what was recorded: their bytes were changed."
        case .moved(let entries, let from):
            entries.count == 1
                ? "Entry \(Sentence.number(from)) is where \(Sentence.entries(entries, isFirst: false)) was recorded."
                : "\(Sentence.entries(from..<from + entries.count)) are where "
                    + "\(Sentence.entries(entries, isFirst: false)) were recorded."
        case .missing(let entries):
            "\(Sentence.entries(entries)) \(entries.count == 1 ? "is" : "are") missing."
        case .repeated(let index): "Entry \(Sentence.number(index)) exists more than once."
        case .unreadable(let entries, let reason): "\(Sentence.entries(entries)) cannot be read: \(reason)"
        case .beyondHead(let entries):
            "\(Sentence.entries(entries)) \(entries.count == 1 ? "is" : "are") after the log's end: no signature "
                + "covers \(entries.count == 1 ? "it" : "them")."
        case .forged(let entries):
            "\(Sentence.entries(entries)) are not all what was recorded: one or more were changed, and their marks "
                + "with them."
        case .rewritten(let entries, let checkpoint, let source):
            "\(Sentence.entries(entries)) \(entries.count == 1 ? "is" : "are") not what the \(source.name) of "
                + "\(Sentence.number(checkpoint)) entries covers: the log was rewritten."
        case .mark(let entries):
            entries.count == 1
                ? "The mark of \(Sentence.entries(entries, isFirst: false)) was changed; the entry itself is correct."
                : "The marks of \(Sentence.entries(entries, isFirst: false)) were changed; the entries themselves are "
                    + "correct."
        case .segmentRoot(let segment):
            "The root recorded for "
                + "\(Sentence.entries(AuditSegment.entries(of: segment), isFirst: false)) was changed; the entries "
                + "themselves are correct."
        case .segmentCount(let count, let expected):
            "The roots of \(Sentence.number(count)) segments are recorded, but the log has "
                + "\(Sentence.number(expected)) full segments."
        case .unarchived(let entries):
            "\(Sentence.entries(entries)) \(entries.count == 1 ? "is" : "are") missing, and the log does not record "
                + "them as archived."
        case .register(let name, let entry):
            entry.map {
                "The register \(name) is not what entry \(Sentence.number($0)) says: it was changed, or an older value "
                    + "was restored."
            }
                ?? "No entry records the register \(name): another program wrote it."
        case .registerMissing(let name, let entry):
            "The register \(name), which entry \(Sentence.number(entry)) records, is missing."
        case .registers:
            "The registers do not match the signed head: one was changed, restored, added or removed. If its entry is "
                + "archived, the archive shows which."
        case .uncosigned(let size, let checkpoint):
            (size == 0
                ? "No checkpoint that could be compared has a signature of a cosigner whose key was given. Everything"
                : "The last checkpoint that a cosigner signed covers \(Sentence.number(size)) entries; the newest covers "
                    + "\(Sentence.number(checkpoint)). What came after")
                + " depends on the log's key alone: the cosigner could not be reached, or the log was rewritten."
        case .uncompared(let checkpoint):
            "The newest checkpoint that was kept elsewhere, of \(Sentence.number(checkpoint)) entries, could not be compared: "
                + "it is among archived entries, and without their files it proves nothing."
        case .archive(let segment):
            "The archive's content for \(Sentence.entries(AuditSegment.entries(of: segment), isFirst: false)) is not "
                + "what was recorded."
        }
    }
}

extension AuditFault.Source {
    var name: String {
        switch self {
        case .kept: "checkpoint kept in the log"
        case .head: "head"
        case .external: "checkpoint"
        }
    }
}
