import Crypto
import SigningKit
public import TransparencyLog

/// The checkpoints to compare while the walk passes along the entries.
struct CheckpointSchedule {
    /// The source of a checkpoint.
    enum Source: Int {
        /// Kept in the store, besides the entries.
        case kept
        /// The log's latest signed tree head.
        case head
        /// An external checkpoint: kept outside the log.
        case external

        var name: String {
            switch self {
            case .kept: "checkpoint kept in the log"
            case .head: "head"
            case .external: "checkpoint"
            }
        }
    }

    struct Stop {
        let size: Int
        let root: MerkleHash
        let source: Source
        /// Whether a known cosigner signed it.
        var isCosigned = false
        /// When enough witnesses had cosigned it; nil if they did not.
        var witnessTime: Timestamp?
    }

    let origin: String
    /// The log's key and the keys of cosigners.
    let verifiers: [NoteVerifier]
    /// Nil if witnesses are ignored.
    let policy: WitnessPolicy?
    /// Whether the policy asks for cosignatures.
    var needsWitnesses: Bool { policy?.needsNone == false }
    private(set) var stops: [Stop] = []
    /// The size of the largest checkpoint other than the head.
    private(set) var largest = 0

    init(origin: String, verifiers: [NoteVerifier], policy: WitnessPolicy? = nil) {
        (self.origin, self.verifiers, self.policy) = (origin, verifiers, policy)
    }

    /// Adds a checkpoint that the log itself keeps.
    ///
    /// - Returns: the size that was signed; nil if the checkpoint or a signature of it is invalid.
    mutating func add(_ source: Source, _ head: SignedTreeHead, _ faults: inout FaultList) -> Int? {
        add(source, recorded: head.size, &faults) { () throws(NoteError) in try SignedNote(parsing: head.note) }
    }

    mutating func add(external note: SignedNote, _ faults: inout FaultList) {
        _ = add(.external, recorded: nil, &faults) { note }
    }

    /// - Parameter recorded: the size under which the log keeps the checkpoint.
    private mutating func add(
        _ source: Source, recorded: Int?, _ faults: inout FaultList, _ read: () throws(NoteError) -> SignedNote
    ) -> Int? {
        var size = recorded ?? 0
        do throws(NoteError) {
            let note = try read()
            let checkpoint = try Checkpoint(parsing: note.text)
            size = recorded ?? checkpoint.size
            let signers = try verify(note)
            if source == .head { try checkpoint.requireLog(among: signers) }
            guard checkpoint.origin.utf8.elementsEqual(origin.utf8) else {
                let reason = "It belongs to the log \(checkpoint.origin), not to \(origin)."
                faults.add(checkpoint.size..<checkpoint.size, Self.invalid(checkpoint.size, source, reason))
                return checkpoint.size
            }
            if checkpoint.size != size {
                let reason = "It is recorded as one of \(Sentence.number(size)) entries."
                faults.add(checkpoint.size..<checkpoint.size, Self.invalid(checkpoint.size, source, reason))
            }
            if source != .head { largest = max(largest, checkpoint.size) }
            // For the head, `findUncosigned` counts no cosignature: the log keeps it with the log's signature alone.
            stops.append(
                Stop(
                    size: checkpoint.size, root: checkpoint.root, source: source,
                    isCosigned: source != .head && signers.contains(where: isCosigner),
                    witnessTime: witnessTime(of: note, signers)))
            return checkpoint.size
        } catch {
            faults.add(size..<size, Self.invalid(size, source, error.description))
            return nil
        }
    }

    /// Accepts all checkpoints of `external` unverified, and verifies only the newest. All must belong to this log.
    mutating func add(claimsOf external: ExternalCheckpoints, _ faults: inout FaultList) {
        guard let newest = external.newest, let size = external.largestSize else { return }
        var isCosigned = false
        var witnessTime: Timestamp?
        do throws(NoteError) {
            let signers = try verify(newest)
            isCosigned = signers.contains(where: isCosigner)
            witnessTime = self.witnessTime(of: newest, signers)
        } catch {
            faults.add(size..<size, Self.invalid(size, .external, error.description))
        }
        for var stop in external.claims {
            if stop.size == size { (stop.isCosigned, stop.witnessTime) = (isCosigned, witnessTime) }
            stops.append(stop)
        }
        largest = max(largest, size)
    }

    private static func invalid(_ size: Int, _ source: Source, _ reason: String) -> String {
        "The \(source.name) of \(Sentence.number(size)) entries is not valid: \(reason)"
    }

    private func verify(_ note: SignedNote) throws(NoteError) -> [NoteVerifier] {
        let signers = try note.verify(with: verifiers + (policy?.witnesses.map(\.verifier) ?? []))
        // A witness' signature alone makes no checkpoint.
        guard !signers.allSatisfy(\.isWitness) else { throw .unknownSigners(note.signatures.map(\.name)) }
        return signers
    }

    private func isCosigner(_ verifier: NoteVerifier) -> Bool {
        !verifier.isWitness && !verifier.name.utf8.elementsEqual(origin.utf8)
    }

    /// The latest time after which enough witnesses cosigned, so that the time of one lying witness decides nothing; nil
    /// if they are too few.
    private func witnessTime(of note: SignedNote, _ signers: [NoteVerifier]) -> Timestamp? {
        guard let policy, needsWitnesses else { return nil }
        let cosigners = signers.filter(\.isWitness).compactMap { signer in
            note.signatures.first(where: signer.made).flatMap { Cosignature($0.bytes) }.map { (signer, $0.time) }
        }.sorted { $0.1 > $1.1 }
        guard let last = cosigners.indices.first(where: { policy.isMet(by: cosigners[...$0].map(\.0)) }) else {
            return nil
        }
        return Timestamp(seconds: Int64(clamping: cosigners[last].1))
    }

    /// A caller who gives a policy expects its witnesses' signatures. Without them, the holder of the log's key could
    /// show each reader another log.
    ///
    /// - Parameters:
    ///   - witnessed: the last valid checkpoint that enough witnesses cosigned.
    ///   - end: when the last entry was written.
    func findUnwitnessed(
        after witnessed: WitnessedCheckpoint?, at size: Int, writtenUntil end: Timestamp?, _ faults: inout FaultList
    ) {
        guard needsWitnesses else { return }
        guard let witnessed else {
            guard size > 0 else { return }
            return faults.add(
                "No checkpoint that could be compared has the signatures of enough witnesses. Give the checkpoints that "
                    + "the gateway published with --checkpoints; if they are given, the witnesses could not be reached, or "
                    + "the log was rewritten.")
        }
        guard witnessed.size < largest else {
            guard witnessed.size < size, let end, end > witnessed.time.later(by: Self.longestTail) else { return }
            return faults.add(
                witnessed.size..<size,
                "The last checkpoint that enough witnesses cosigned, at \(witnessed.time.text), covers "
                    + "\(Sentence.number(witnessed.size)) entries; the last entry was written at \(end.text). What came "
                    + "between depends on the log's key alone. Give later checkpoints with --checkpoints.")
        }
        faults.add(
            "The last checkpoint that enough witnesses cosigned covers \(Sentence.number(witnessed.size)) entries; the "
                + "newest covers \(Sentence.number(largest)). What came after depends on the log's key alone: the "
                + "witnesses could not be reached, or the log was rewritten.")
    }

    /// A caller who gives a cosigner's key expects its signature. Without a cosignature, the holder of the log's key
    /// could rewrite the log and remove its kept checkpoints.
    ///
    /// - Parameter cosigned: the size of the last valid cosigned checkpoint.
    /// - Returns: `cosigned`; nil without a cosigner's key.
    func findUncosigned(after cosigned: Int, at size: Int, _ faults: inout FaultList) -> Int? {
        // Without the log's own key, no checkpoint is valid and cosigners cannot be told apart.
        guard verifiers.contains(where: isCosigner), !verifiers.allSatisfy(isCosigner) else { return nil }
        if cosigned < largest || (cosigned == 0 && size > 0) {
            let begin =
                cosigned == 0
                ? "No checkpoint that could be compared has a signature of a cosigner whose key was given. Everything"
                : "The last checkpoint that a cosigner signed covers \(Sentence.number(cosigned)) entries; the newest "
                    + "covers \(Sentence.number(largest)). What came after"
            faults.add(
                "\(begin) depends on the log's key alone: the cosigner could not be reached, or the log was rewritten.")
        }
        return cosigned
    }

    /// In seconds: entries of a longer time without a witness are a fault.
    private static let longestTail: Int64 = 3600

    /// Reports only the largest checkpoint of each source; the others would repeat it.
    func findTruncation(at size: Int, _ faults: inout FaultList) {
        for source in [Source.kept, .external] {
            guard let largest = stops.lazy.filter({ $0.source == source }).map(\.size).max(), largest > size else {
                continue
            }
            faults.add(
                size..<largest,
                "The log ends at \(Sentence.number(size)), but a \(source.name) covers "
                    + "\(Sentence.number(largest)) entries: it was truncated, or an older copy was restored. A copy that "
                    + "was made before the checkpoint looks the same.", isGrave: true)
        }
    }

    /// The size of the largest external checkpoint; 0 without any.
    var largestExternalSize: Int { stops.lazy.filter { $0.source == .external }.map(\.size).max() ?? 0 }

    /// Sorted by size; at equal size, external checkpoints come last.
    var inOrder: [Stop] { stops.sorted { ($0.size, $0.source.rawValue) < ($1.size, $1.source.rawValue) } }
}

/// Visits stored notes one by one.
public typealias NoteSource = (_ visit: (SignedNote) -> Void) throws(AuditStoreError) -> Void

/// External checkpoints: their sizes and roots, and the source to read them again. A gateway issues half a million in a
/// year, so the notes themselves are not kept.
public struct ExternalCheckpoints {
    /// Unverified.
    private(set) var claims: [CheckpointSchedule.Stop] = []
    /// The checkpoint of `largestSize`.
    private(set) var newest: SignedNote?
    public private(set) var largestSize: Int?
    /// In UTF-8.
    private var originBytes: Set<[UInt8]> = []
    /// Covers all notes, to detect a change between two reads.
    private var hash = SHA256()
    /// Notes that are not checkpoints.
    private var others = 0
    private let source: NoteSource

    /// - Parameter source: must supply the same notes each time.
    public init(_ source: @escaping NoteSource) throws(AuditStoreError) {
        self.source = source
        try source { add($0) }
    }

    public init(_ notes: [SignedNote]) {
        source = { visit in for note in notes { visit(note) } }
        for note in notes { add(note) }
    }

    private mutating func add(_ note: SignedNote) {
        hash.update(data: Array(note.description.utf8))
        guard let checkpoint = try? Checkpoint(parsing: note.text) else { return others += 1 }
        originBytes.insert(Array(checkpoint.origin.utf8))
        claims.append(CheckpointSchedule.Stop(size: checkpoint.size, root: checkpoint.root, source: .external))
        let (size, known) = (largestSize ?? -1, newest?.signatures.count ?? 0)
        // Of two checkpoints of one size, one may have the signatures of witnesses.
        if checkpoint.size > size || checkpoint.size == size && note.signatures.count > known {
            (largestSize, newest) = (checkpoint.size, note)
        }
    }

    public var count: Int { claims.count + others }

    /// The names of the logs of the checkpoints. A note that is no checkpoint has none.
    public var origins: [String] { originBytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The checkpoints of one log.
    public func only(of origin: String) throws(AuditStoreError) -> ExternalCheckpoints {
        let source = source
        return try ExternalCheckpoints { (visit) throws(AuditStoreError) in
            try source { note in
                let checkpoint = try? Checkpoint(parsing: note.text)
                if checkpoint?.origin.utf8.elementsEqual(origin.utf8) == true { visit(note) }
            }
        }
    }

    func areAll(of origin: String) -> Bool { others == 0 && originBytes.allSatisfy { $0.elementsEqual(origin.utf8) } }

    /// - Throws: `.damaged` if the notes changed, because a checkpoint that contradicts the log must not disappear.
    func read(_ visit: (SignedNote) -> Void) throws(AuditStoreError) {
        var now = SHA256()
        try source { note in
            now.update(data: Array(note.description.utf8))
            visit(note)
        }
        guard now.finalize() == hash.finalize() else {
            throw .damaged("The external checkpoints changed during the verification; verify again.")
        }
    }

    /// Some of the largest checkpoints, the largest first.
    ///
    /// - Parameter count: how many at most.
    public func largest(_ count: Int) throws(AuditStoreError) -> [SignedNote] {
        let least = claims.map(\.size).sorted(by: >).prefix(count).last ?? 0
        var found: [(size: Int, note: SignedNote)] = []
        try read { note in
            if let size = (try? Checkpoint(parsing: note.text))?.size, size >= least { found.append((size, note)) }
        }
        return found.reversed().sorted { $0.size > $1.size }.prefix(count).map(\.note)
    }

    public func notes(size: Int) throws(AuditStoreError) -> [SignedNote] {
        guard claims.contains(where: { $0.size == size }) else { return [] }
        var found: [SignedNote] = []
        try read { note in
            if (try? Checkpoint(parsing: note.text))?.size == size { found.append(note) }
        }
        return found
    }
}
