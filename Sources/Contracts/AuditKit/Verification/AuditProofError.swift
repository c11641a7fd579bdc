public import TransparencyLog

/// Why a proof cannot be made, read or accepted. The description is a sentence.
public enum AuditProofError: Error, Hashable, Sendable {
    case store(AuditStoreError)
    /// A note of the proof, or a signature of it, is invalid.
    case note(NoteError)
    /// The checkpoint does not cover the entry.
    case outside(index: Int, size: Int)
    /// The log keeps no checkpoint of this size; nil if it has no checkpoint at all.
    case noCheckpoint(size: Int?)
    /// The old checkpoint is larger than the new one.
    case wrongOrder(old: Int, new: Int)
    case missing(index: Int)
    /// The proof needs these entries, and they are archived.
    case archived(Range<Int>)
    /// The log's content does not lead to the checkpoint's root.
    case unfit(size: Int)
    /// The checkpoints belong to two logs.
    case otherLog(String, String)
    /// The text is not a proof. The value continues the sentence.
    case malformed(String)
    /// Too few witnesses cosigned the checkpoint.
    case unwitnessed
    case wrongInclusion(index: Int, size: Int)
    case wrongConsistency(old: Int, new: Int)
}

extension AuditProofError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .store(let error): error.description
        case .note(let error): error.description
        case .outside(let index, let size):
            "Entry \(Sentence.number(index)) is not among the \(Sentence.number(size)) that the checkpoint covers."
        case .noCheckpoint(let size?): "The log keeps no checkpoint of \(Sentence.number(size)) entries."
        case .noCheckpoint(nil): "The log has no checkpoint yet."
        case .wrongOrder(let old, let new):
            "The old checkpoint covers \(Sentence.number(old)) entries and the new one only \(Sentence.number(new))."
        case .missing(let index): "Entry \(Sentence.number(index)) is missing: verify the log."
        case .archived(let entries):
            "\(Sentence.entries(entries)) have been archived, and this proof needs them: give their directory to privyseal audit prove "
                + "with --archive."
        case .unfit(let size):
            "The entries do not lead to the root of the checkpoint of \(Sentence.number(size)): verify the log."
        case .otherLog(let old, let new): "The checkpoints are of two logs, \(old) and \(new)."
        case .malformed(let flaw): "The text is not a proof: \(flaw)."
        case .unwitnessed:
            "Too few witnesses of the policy cosigned the checkpoint. privyseal audit prove with --policy takes one that "
                + "they cosigned."
        case .wrongInclusion(let index, let size):
            "The proof is wrong: this is not entry \(Sentence.number(index)) of the log that the checkpoint of "
                + "\(Sentence.number(size)) entries covers."
        case .wrongConsistency(let old, let new):
            "The proof is wrong: the log of \(Sentence.number(new)) entries does not begin with that of "
                + "\(Sentence.number(old))."
        }
    }
}
