import TransparencyLog

/// The checkpoints that can be believed, for the walk along the entries.
struct CheckpointPlan {
    struct Stop {
        let size: Int
        let root: MerkleHash
        let source: AuditFault.Source
    }

    private let origin: String
    private let verifiers: [NoteVerifier]
    private var stops: [Stop] = []
    /// Of the largest checkpoint that was given out, and of the largest that bears a co-signature.
    private var (largest, cosigned) = (0, 0)

    init(origin: String, verifiers: [NoteVerifier]) {
        self.origin = origin
        self.verifiers = verifiers
    }

    /// - Returns: the log's size.
    mutating func add(head: AuditHead, _ faults: inout FaultList) -> Int {
        do throws(NoteError) {
            let checkpoint = try Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: verifiers)
            add(checkpoint, recorded: head.size, .head, &faults)
            return checkpoint.size
        } catch {
            faults.add(.checkpoint(size: head.size, .head, error.description))
            return max(head.size, 0)
        }
    }

    mutating func add(kept head: AuditHead, _ faults: inout FaultList) {
        do throws(NoteError) {
            let note = try SignedNote(parsing: head.note)
            let signers = try note.verify(with: verifiers)
            let checkpoint = try Checkpoint(parsing: note.text)
            count(checkpoint, signers)
            add(checkpoint, recorded: head.size, .kept, &faults)
        } catch {
            faults.add(.checkpoint(size: head.size, .kept, error.description))
        }
    }

    mutating func add(external note: SignedNote, _ faults: inout FaultList) {
        var size = 0
        do throws(NoteError) {
            let checkpoint = try Checkpoint(parsing: note.text)
            size = checkpoint.size
            count(checkpoint, try note.verify(with: verifiers))
            add(checkpoint, recorded: size, .external, &faults)
        } catch {
            faults.add(.checkpoint(size: size, .external, error.description))
        }
    }

    /// Takes what they say, all of this log, for true, and verifies the newest.
    mutating func add(claimsOf external: ExternalCheckpoints, _ faults: inout FaultList) {
        for claim in external.claims { stops.append(Stop(size: claim.size, root: claim.root, source: .external)) }
        largest = max(largest, external.largestSize ?? 0)
        guard let note = external.newest else { return }
        do throws(NoteError) {
            count(try Checkpoint(parsing: note.text), try note.verify(with: verifiers))
        } catch {
            faults.add(.checkpoint(size: external.largestSize ?? 0, .external, error.description))
        }
    }

    private mutating func add(
        _ checkpoint: Checkpoint, recorded size: Int, _ source: AuditFault.Source, _ faults: inout FaultList
    ) {
        guard checkpoint.origin.utf8.elementsEqual(origin.utf8) else {
            return faults.add(
                .checkpoint(
                    size: checkpoint.size, source, "It is of another log, \(checkpoint.origin), and not of \(origin)."))
        }
        if checkpoint.size != size {
            faults.add(
                .checkpoint(
                    size: checkpoint.size, source, "It is recorded as one of \(Sentence.number(size)) entries."))
        }
        stops.append(Stop(size: checkpoint.size, root: checkpoint.root, source: source))
    }

    private mutating func count(_ checkpoint: Checkpoint, _ signers: [NoteVerifier]) {
        guard checkpoint.origin.utf8.elementsEqual(origin.utf8) else { return }
        largest = max(largest, checkpoint.size)
        if signers.contains(where: isCosigner) { cosigned = max(cosigned, checkpoint.size) }
    }

    private func isCosigner(_ verifier: NoteVerifier) -> Bool { !verifier.name.utf8.elementsEqual(origin.utf8) }

    /// Whoever gives a cosigner's key wants to see its signature: without it the log's key alone rewrites everything, and takes
    /// out what the log keeps of its checkpoints.
    ///
    /// - Returns: how many entries a co-signature covers; nil without a cosigner's key.
    func findUncosigned(at size: Int, _ faults: inout FaultList) -> Int? {
        // Without the log's own key nothing is believed, and its cosigners are unknown.
        guard verifiers.contains(where: isCosigner), !verifiers.allSatisfy(isCosigner) else { return nil }
        if cosigned < largest || (cosigned == 0 && size > 0) {
            faults.add(.uncosigned(size: cosigned, checkpoint: largest))
        }
        return cosigned
    }

    /// The largest of each source is told: the others would say the same.
    func findTruncation(at size: Int, _ faults: inout FaultList) {
        for source in [AuditFault.Source.kept, .external] {
            let largest = stops.filter { $0.source == source }.map(\.size).max()
            if let largest, largest > size { faults.add(.truncated(size: size, checkpoint: largest, source)) }
        }
    }

    /// By size; at one size, those from outside last.
    var inOrder: [Stop] {
        stops.sorted { ($0.size, $0.source.rawValue) < ($1.size, $1.source.rawValue) }
    }
}
