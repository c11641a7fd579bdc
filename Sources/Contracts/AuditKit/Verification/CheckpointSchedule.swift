import TransparencyLog

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
    }

    private let origin: String
    private let verifiers: [NoteVerifier]
    private var stops: [Stop] = []
    /// The size of the largest checkpoint other than the head.
    private var largest = 0

    init(origin: String, verifiers: [NoteVerifier]) {
        self.origin = origin
        self.verifiers = verifiers
    }

    /// - Returns: the log's size.
    mutating func add(head: SignedTreeHead, _ faults: inout FaultList) -> Int {
        do throws(NoteError) {
            let checkpoint = try Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: verifiers)
            add(checkpoint, recorded: head.size, .head, [], &faults)
            return checkpoint.size
        } catch {
            faults.add(Self.invalid(head.size, .head, error.description))
            return max(head.size, 0)
        }
    }

    mutating func add(kept head: SignedTreeHead, _ faults: inout FaultList) {
        do throws(NoteError) {
            let note = try SignedNote(parsing: head.note)
            let signers = try note.verify(with: verifiers)
            add(try Checkpoint(parsing: note.text), recorded: head.size, .kept, signers, &faults)
        } catch {
            faults.add(Self.invalid(head.size, .kept, error.description))
        }
    }

    mutating func add(external note: SignedNote, _ faults: inout FaultList) {
        var size = 0
        do throws(NoteError) {
            let checkpoint = try Checkpoint(parsing: note.text)
            size = checkpoint.size
            add(checkpoint, recorded: size, .external, try note.verify(with: verifiers), &faults)
        } catch {
            faults.add(Self.invalid(size, .external, error.description))
        }
    }

    /// Accepts all checkpoints of `external` unverified, and verifies only the newest. All must belong to this log.
    mutating func add(claimsOf external: ExternalCheckpoints, _ faults: inout FaultList) {
        guard let newest = external.newest, let size = external.largestSize else { return }
        var isCosigned = false
        do throws(NoteError) {
            isCosigned = try newest.verify(with: verifiers).contains(where: isCosigner)
        } catch {
            faults.add(Self.invalid(size, .external, error.description))
        }
        for claim in external.claims {
            let isNewest = claim.size == size
            stops.append(
                Stop(size: claim.size, root: claim.root, source: .external, isCosigned: isNewest && isCosigned))
        }
        largest = max(largest, size)
    }

    private mutating func add(
        _ checkpoint: Checkpoint, recorded size: Int, _ source: Source, _ signers: [NoteVerifier],
        _ faults: inout FaultList
    ) {
        guard checkpoint.origin.utf8.elementsEqual(origin.utf8) else {
            let reason = "It belongs to the log \(checkpoint.origin), not to \(origin)."
            return faults.add(Self.invalid(checkpoint.size, source, reason))
        }
        if checkpoint.size != size {
            let reason = "It is recorded as one of \(Sentence.number(size)) entries."
            faults.add(Self.invalid(checkpoint.size, source, reason))
        }
        if source != .head { largest = max(largest, checkpoint.size) }
        stops.append(
            Stop(
                size: checkpoint.size, root: checkpoint.root, source: source,
                isCosigned: signers.contains(where: isCosigner)))
    }

    private static func invalid(_ size: Int, _ source: Source, _ reason: String) -> AuditFault {
        AuditFault(size..<size, "The \(source.name) of \(Sentence.number(size)) entries is not valid: \(reason)")
    }

    private func isCosigner(_ verifier: NoteVerifier) -> Bool { !verifier.name.utf8.elementsEqual(origin.utf8) }

    /// A caller who gives a cosigner's key expects its signature. Without a cosignature, the holder of the log's key
    /// could rewrite the log and remove its kept checkpoints.
    ///
    /// - Parameter cosigned: the size of the last valid cosigned checkpoint.
    /// - Returns: `cosigned`; nil without a cosigner's key.
    func findUncosigned(after cosigned: Int, at size: Int, _ faults: inout FaultList) -> Int? {
        // Without the log's own key, no checkpoint is valid and cosigners cannot be told apart.
        guard verifiers.contains(where: isCosigner), !verifiers.allSatisfy(isCosigner) else { return nil }
        if cosigned < largest || (cosigned == 0 && size > 0) {
            faults.add(
                AuditFault(
                    (cosigned == 0
                        ? "No checkpoint that could be compared has a signature of a cosigner whose key was given. "
                            + "Everything"
                        : "The last checkpoint that a cosigner signed covers \(Sentence.number(cosigned)) entries; the "
                            + "newest covers \(Sentence.number(largest)). What came after")
                        + " depends on the log's key alone: the cosigner could not be reached, or the log was "
                        + "rewritten."))
        }
        return cosigned
    }

    /// Reports only the largest checkpoint of each source; the others would repeat it.
    func findTruncation(at size: Int, _ faults: inout FaultList) {
        for source in [Source.kept, .external] {
            guard let largest = stops.lazy.filter({ $0.source == source }).map(\.size).max(), largest > size else {
                continue
            }
            faults.add(
                AuditFault(
                    size..<largest,
                    "The log ends at \(Sentence.number(size)), but a \(source.name) covers \(Sentence.number(largest)) "
                        + "entries: it was truncated, or an older copy was restored. A copy that was made before the "
                        + "checkpoint looks the same.", isGrave: true))
        }
    }

    /// The size of the largest external checkpoint; 0 without any.
    var largestExternalSize: Int { stops.lazy.filter { $0.source == .external }.map(\.size).max() ?? 0 }

    /// Sorted by size; at equal size, external checkpoints come last.
    var inOrder: [Stop] {
        stops.sorted { ($0.size, $0.source.rawValue) < ($1.size, $1.source.rawValue) }
    }
}
