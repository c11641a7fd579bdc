import Logging
import SQLite
import Synchronization
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
        /// The checkpoint and one that the witness cosigned cannot belong to one log.
        case fork(String)
        /// The proof does not fit the checkpoint. That alone says nothing about the log: its sender may be someone else.
        case unproved(String)
        /// The new checkpoint cannot be stored.
        case unavailable(String)
    }

    private let key: WitnessKey
    private let logs: WitnessedLogs
    private let memory: WitnessMemory
    /// When a line of a kind about a log was logged last.
    private let logged = Mutex<[[UInt8]: ContinuousClock.Instant]>([:])
    /// The sizes that this process has cosigned, by log.
    private let sizes = Mutex<[[UInt8]: Int]>([:])
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
        switch answer {
        case .fork(let sentence): log(.critical, sentence, request.note, checkpoint.origin, signers)
        case .unproved(let sentence): log(.warning, sentence, request.note, checkpoint.origin, signers)
        default: break
        }
        return answer
    }

    /// Whether the last line of this kind about a log is a minute old: the sender of checkpoints could fill the disk
    /// otherwise.
    private func isDue(_ kind: String, _ origin: String) -> Bool {
        logged.withLock { logged in
            let key = Array("\(kind) \(origin)".utf8)
            if let last = logged[key], .now - last < .seconds(60) { return false }
            logged[key] = .now
            return true
        }
    }

    /// Logs a refused checkpoint: it may be the proof of a fork.
    private func log(
        _ level: Logger.Level, _ sentence: String, _ note: SignedNote, _ origin: String, _ signers: [NoteVerifier]
    ) {
        guard isDue("\(level.rawValue)", origin), let note = Self.note(note, signedBy: signers) else { return }
        let lines = note.description.split(separator: "\n", omittingEmptySubsequences: false)
        logger.log(
            level: level, "A checkpoint was refused: \(sentence)",
            metadata: ["log": "\(origin)", "checkpoint": "\(lines.joined(separator: "|"))"])
    }

    /// The note with one signature of each signer.
    private static func note(_ note: SignedNote, signedBy signers: [NoteVerifier]) -> SignedNote? {
        var own: [NoteSignature] = []
        for signer in signers {
            if let signature = note.signatures.first(where: signer.made), !own.contains(signature) {
                own.append(signature)
            }
        }
        return try? SignedNote(text: note.text, signatures: own)
    }

    private func decide(
        _ request: AddCheckpointRequest, _ checkpoint: Checkpoint, _ signers: [NoteVerifier], at time: UInt64
    ) -> Answer {
        var answer = Answer.unavailable("The witness could not decide.")
        do throws(SQLiteError) {
            try memory.replace(of: checkpoint.origin) { last in
                let signature: NoteSignature
                do throws(Refusal) {
                    try checkMemory(last, of: checkpoint.origin)
                    try Self.check(request, checkpoint, after: last)
                    signature = try cosignature(of: request.note, at: time)
                } catch {
                    answer = error.answer
                    return nil
                }
                guard let note = try? Self.note(request.note, signedBy: signers)?.adding(signature) else { return nil }
                answer = .cosigned(signature)
                return WitnessMemory.Cosigned(
                    size: checkpoint.size, root: checkpoint.root.bytes, note: note.description)
            }
        } catch {
            if isDue("storage", checkpoint.origin) {
                logger.error("A checkpoint cannot be stored, so it is not cosigned: \(error)")
            }
            return .unavailable("The witness cannot store the checkpoint.")
        }
        if case .cosigned = answer {
            let origin = Array(checkpoint.origin.utf8)
            sizes.withLock { $0[origin] = max($0[origin] ?? 0, checkpoint.size) }
        }
        return answer
    }

    /// An older copy of the database would let the witness cosign a fork.
    private func checkMemory(_ last: WitnessMemory.Cosigned?, of origin: String) throws(Refusal) {
        let known = sizes.withLock { $0[Array(origin.utf8)] } ?? 0
        guard last?.size ?? 0 >= known else {
            if isDue("memory", origin) {
                logger.critical(
                    "The database has an older checkpoint than this process has cosigned. Put the right database back.",
                    metadata: ["log": "\(origin)", "cosigned": "\(known)"])
            }
            throw Refusal(
                answer: .unavailable(
                    "The database of the witness is older than its last cosignature; its operator must put the right one back."
                ))
        }
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
            throw Refusal(answer: .fork("The root of a log without entries is wrong."))
        }
        if size == 0 {
            guard request.hashes.isEmpty else {
                throw Refusal(answer: .unproved("The proof from an empty log must be empty."))
            }
            return
        }
        guard let last, let root = MerkleHash(bytes: last.root) else {
            throw Refusal(answer: .unavailable("The last checkpoint cannot be read."))
        }
        if checkpoint.size == size, checkpoint.root != root {
            throw Refusal(answer: .fork("The log of \(size) entries is another one than this witness cosigned."))
        }
        let proof = ConsistencyProof(oldSize: size, newSize: checkpoint.size, hashes: request.hashes)
        guard proof.verify(oldRoot: root, newRoot: checkpoint.root) else {
            throw Refusal(
                answer: .unproved(
                    "The proof does not show that the log of \(checkpoint.size) entries begins with the \(size) that this "
                        + "witness cosigned."))
        }
    }

    private func cosignature(of note: SignedNote, at time: UInt64) throws(Refusal) -> NoteSignature {
        guard time > 0 else { throw Refusal(answer: .unavailable("The witness' clock is wrong.")) }
        do throws(NoteError) { return try key.cosign(note.text, at: time) } catch {
            throw Refusal(answer: .unavailable("The witness cannot sign."))
        }
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
