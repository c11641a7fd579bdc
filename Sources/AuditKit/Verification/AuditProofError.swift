public import TransparencyLog

/// Why a proof cannot be made, read or believed. Each with a sentence.
public enum AuditProofError: Error, Hashable, Sendable {
    case store(AuditStoreError)
    /// A note in it, or its signatures.
    case note(NoteError)
    /// The checkpoint does not cover the entry.
    case outside(index: Int, size: Int)
    /// The log keeps no checkpoint of this size; nil for a log without any.
    case noCheckpoint(size: Int?)
    /// The old checkpoint is the larger one.
    case wrongOrder(old: Int, new: Int)
    case missing(index: Int)
    /// The entries themselves are needed, and are archived.
    case archived(Range<Int>)
    /// What the log holds does not lead to the checkpoint's root.
    case unfit(size: Int)
    /// The two checkpoints are of different logs.
    case otherLog(String, String)
    /// The text has not the form of a proof.
    case malformed(ProofFlaw)
    /// The proof does not prove it.
    case wrongInclusion(index: Int, size: Int)
    case wrongConsistency(old: Int, new: Int)
}

/// What a proof's text lacks.
public enum ProofFlaw: String, Hashable, Sendable {
    case notText = "it is not UTF-8"
    case header = "its first line does not say what it is"
    case parts = "parts of it, which empty lines divide, are missing or too many"
    case entry = "it has no line `extra` with the entry in Base64"
    case index = "it has no line `index` with a number in decimal digits"
    case hash = "one of its hashes is not the Base64 of 32 bytes"
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
        case .malformed(let flaw): "The text is not a proof: \(flaw.rawValue)."
        case .wrongInclusion(let index, let size):
            "The proof is wrong: this is not entry \(Sentence.number(index)) of the log that the checkpoint of "
                + "\(Sentence.number(size)) entries covers."
        case .wrongConsistency(let old, let new):
            "The proof is wrong: the log of \(Sentence.number(new)) entries does not begin with that of "
                + "\(Sentence.number(old))."
        }
    }
}
