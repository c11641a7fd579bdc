import Logging
import SQLite
public import TransparencyLog

/// Cosigns a checkpoint of a log if the log only grew since the last one that it cosigned (C2SP tlog-witness).
public final class Witness: Sendable {
    /// The answer to `add-checkpoint`. The strings are sentences.
    public enum Answer: Hashable, Sendable {
        case cosigned(NoteSignature)
        case malformed(String)
        case untrusted(String)
        case unknownLog(String)
        /// The size of the latest cosigned checkpoint.
        case conflict(size: Int)
        /// The log is not the one that the witness knows.
        case contradiction(String)
        /// The new checkpoint cannot be stored.
        case unavailable(String)
    }

    private let key: WitnessKey
    private let logs: WitnessedLogs
    private let memory: WitnessMemory
    private let logger = Logger(label: "privyseal.witness")

    public init(key: WitnessKey, logs: WitnessedLogs, memory: WitnessMemory) {
        (self.key, self.logs, self.memory) = (key, logs, memory)
    }

    /// Answers `add-checkpoint`. It blocks for a write to the disk.
    ///
    /// - Parameter time: seconds since 1970.
    public func add(_ body: [UInt8], at time: UInt64) -> Answer {
        guard let request = AddCheckpointRequest(parsing: body),
            let checkpoint = try? Checkpoint(parsing: request.note.text)
        else {
            return .malformed("The request is not an old size, proof lines, an empty line and a signed checkpoint.")
        }
        guard let verifiers = logs.verifiers(of: checkpoint.origin) else {
            return .unknownLog("This witness does not know the log \(checkpoint.origin).")
        }
        let signers: [NoteVerifier]
        do throws(NoteError) { signers = try request.note.verify(with: verifiers) } catch {
            return .untrusted("\(error)")
        }
        guard request.oldSize <= checkpoint.size else {
            return .malformed("The old size \(request.oldSize) is larger than the checkpoint's, \(checkpoint.size).")
        }
        let answer = decide(request, checkpoint, signers, at: time)
        if case .contradiction(let sentence) = answer {
            // The note is the proof that the log is not append-only.
            let note = request.note.description.split(separator: "\n", omittingEmptySubsequences: false)
            logger.critical(
                "A checkpoint was refused: \(sentence)",
                metadata: ["log": "\(checkpoint.origin)", "checkpoint": "\(note.joined(separator: "|"))"])
        }
        return answer
    }

    private func decide(
        _ request: AddCheckpointRequest, _ checkpoint: Checkpoint, _ signers: [NoteVerifier], at time: UInt64
    ) -> Answer {
        var answer = Answer.unavailable("The witness could not decide.")
        do throws(SQLiteError) {
            try memory.replace(of: checkpoint.origin) { last in
                let signature: NoteSignature
                do throws(Refusal) {
                    try Self.check(request, checkpoint, after: last)
                    signature = try cosignature(of: request.note, at: time)
                } catch {
                    answer = error.answer
                    return nil
                }
                answer = .cosigned(signature)
                let note = cosigned(request.note, signers, signature)
                return WitnessMemory.Cosigned(size: checkpoint.size, root: checkpoint.root.bytes, note: note)
            }
        } catch {
            logger.error("A checkpoint cannot be stored, so it is not cosigned: \(error)")
            return .unavailable("The witness cannot store the checkpoint.")
        }
        return answer
    }

    private struct Refusal: Error {
        let answer: Answer
    }

    private static func check(
        _ request: AddCheckpointRequest, _ checkpoint: Checkpoint, after last: WitnessMemory.Cosigned?
    ) throws(Refusal) {
        let size = last?.size ?? 0
        guard request.oldSize == size else { throw Refusal(answer: .conflict(size: size)) }
        if checkpoint.size == 0, checkpoint.root != .empty {
            throw Refusal(answer: .contradiction("The root of a log without entries is wrong."))
        }
        if size == 0 {
            guard request.hashes.isEmpty else {
                throw Refusal(answer: .contradiction("The proof from an empty log must be empty."))
            }
            return
        }
        guard let last, let root = MerkleHash(bytes: last.root) else {
            throw Refusal(answer: .unavailable("The last checkpoint cannot be read."))
        }
        let proof = ConsistencyProof(oldSize: size, newSize: checkpoint.size, hashes: request.hashes)
        guard proof.verify(oldRoot: root, newRoot: checkpoint.root) else {
            throw Refusal(
                answer: .contradiction(
                    "The log of \(checkpoint.size) entries does not begin with the \(size) that this witness cosigned.")
            )
        }
    }

    private func cosignature(of note: SignedNote, at time: UInt64) throws(Refusal) -> NoteSignature {
        do throws(NoteError) { return try key.cosign(note.text, at: time) } catch {
            throw Refusal(answer: .unavailable("The witness cannot sign."))
        }
    }

    /// The checkpoint for monitors: with the log's signatures and that of this witness, and no others.
    private func cosigned(_ note: SignedNote, _ signers: [NoteVerifier], _ signature: NoteSignature) -> String {
        let own = note.signatures.filter { signature in signers.contains { $0.made(signature) } }
        return (try? SignedNote(text: note.text, signatures: own + [signature]))?.description ?? note.description
    }

    /// The last checkpoint of a log that this witness cosigned, for monitors. It blocks.
    ///
    /// - Parameter hash: SHA-256 of the log's origin, in lower-case hexadecimal digits.
    /// - Returns: nil without one.
    public func latest(originHash hash: String) throws -> String? {
        guard let origin = logs.origin(hash: hash) else { return nil }
        return try memory.last(of: origin)?.note
    }
}
