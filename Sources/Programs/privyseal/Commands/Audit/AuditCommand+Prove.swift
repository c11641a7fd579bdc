import ArgumentParser
import AuditKit
import StrictJSON
import TransparencyLog

extension AuditCommand {
    struct Prove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "prove",
            abstract: "Prove that an entry is in the log, or that the log only grew between two checkpoints.",
            discussion: """
                  privyseal audit prove 41234 --config gateway.yaml --out proof
                  privyseal audit prove 41234 --against 50000 --config gateway.yaml
                  privyseal audit prove --between 40000 50000 --config gateway.yaml

                The proof of an entry holds the entry, the hashes that lead from it to the root, and the signed \
                checkpoint. The log's public key is enough to check it, with privyseal audit check-proof or with \
                twenty lines of any language. A size is that of the newest signed tree head, of a checkpoint in the \
                log (privyseal audit checkpoint --all), or of one in --checkpoints.

                With a policy of witnesses, the proof has the newest checkpoint that enough of them cosigned.
                """)

        @Argument(help: ArgumentHelp("The entry's index, from 0.", valueName: "index"))
        var index: Int?

        @Option(
            parsing: .upToNextOption,
            help: ArgumentHelp("The sizes of two checkpoints, the old one first.", valueName: "size"))
        var between: [Int] = []

        @Option(help: ArgumentHelp("The size of the checkpoint; default: the newest.", valueName: "size"))
        var against: Int?

        @OptionGroup var log: AuditLogOption
        @OptionGroup var witnesses: AuditPolicyOption
        @OptionGroup var checkpoints: AuditCheckpointOption
        @OptionGroup var archive: AuditArchiveOption

        @Option(
            help: ArgumentHelp("A new file for the proof; default: standard output.", valueName: "file"),
            completion: .file())
        var out: String?

        func validate() throws {
            guard (index == nil) != between.isEmpty else {
                throw ValidationError("Give either the INDEX of an entry or --between OLD NEW.")
            }
            guard between.isEmpty || between.count == 2 else {
                throw ValidationError("--between takes two sizes: --between OLD NEW.")
            }
            guard index != nil || against == nil else {
                throw ValidationError("--against is for the proof of an entry; --between names both sizes.")
            }
        }

        func run() throws {
            let source = try log.open()
            let prover = try AuditProver(source.reader, archive: archive.bodies)
            let sizes: [Int?] = index == nil ? between : [against]
            let heads = try sizes.map { size in
                try size.map { try candidates($0, prover, source) } ?? newest(prover, source)
            }
            let proof = try AuditProver.first(heads[0]) { head throws(AuditProofError) in
                if let index { return try prover.inclusion(of: index, in: head).text }
                return try AuditProver.first(heads[1]) { later throws(AuditProofError) in
                    try prover.consistency(from: head, to: later).text
                }
            }
            let output = try StandardError.attempt(64) { try AuditOutput.open(out) }
            output.write(Array(proof.utf8))
            try output.finish()
        }

        /// The head, or with a policy the newest checkpoint that enough witnesses cosigned.
        private func newest(_ prover: AuditProver, _ source: AuditSource) throws -> [SignedTreeHead] {
            let policy = try witnesses.policy(for: source)
            guard let policy, !policy.needsNone else { return [try prover.checkpoint()] }
            let witnessed = try largestWitnessed(by: policy, source)
            if let witnessed, index.map({ $0 < witnessed.size }) ?? true { return [witnessed] }
            guard witnesses.file == nil else { throw AuditProofError.unwitnessed }
            StandardError.print(
                "privyseal: No checkpoint that covers the entry has the signatures of enough witnesses yet, so the proof "
                    + "has none.")
            return [try prover.checkpoint()]
        }

        private func largestWitnessed(by policy: WitnessPolicy, _ source: AuditSource) throws -> SignedTreeHead? {
            let origin = source.reader.identity.origin
            let kept = ExternalCheckpoints(
                try source.reader.checkpoints().compactMap { try? SignedNote(parsing: $0.note) })
            let published = try checkpoints.collections(for: source).map { try $0.only(of: origin).checkpoints }
            let found = try (published + [kept]).compactMap { checkpoints -> SignedTreeHead? in
                for note in try checkpoints.largest(CheckpointCollection.searched) {
                    guard (try? policy.isMet(by: policy.signers(of: note))) == true,
                        let size = (try? Checkpoint(parsing: note.text))?.size
                    else { continue }
                    return SignedTreeHead(size: size, note: note.description)
                }
                return nil
            }
            return found.max { $0.size < $1.size }
        }

        /// The checkpoints of a size: the given ones and the log's own, or else those in the gateway's own file.
        private func candidates(_ size: Int, _ prover: AuditProver, _ source: AuditSource) throws -> [SignedTreeHead] {
            let given = checkpoints.files.isEmpty ? [] : try heads(of: size, source)
            do throws(AuditProofError) {
                return given + [try prover.checkpoint(size: size)]
            } catch {
                let found = checkpoints.files.isEmpty ? try heads(of: size, source) : given
                guard !found.isEmpty else { throw error }
                return found
            }
        }

        private func heads(of size: Int, _ source: AuditSource) throws -> [SignedTreeHead] {
            try checkpoints.collections(for: source).flatMap { collection in
                try collection.checkpoints.notes(size: size)
            }.map { SignedTreeHead(size: size, note: $0.description) }
        }
    }

    struct CheckProof: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check-proof",
            abstract: "Check a proof from privyseal audit prove, with only the log's public key.",
            discussion: """
                  privyseal audit check-proof proof --key audit.db.key.pub
                  privyseal audit check-proof proof --policy witnesses.policy

                The first line of a proof gives its kind. For a valid proof of an entry, the command prints the entry \
                with the checkpoint that covers it.
                """)

        @Argument(help: ArgumentHelp("The proof; - is standard input.", valueName: "file"), completion: .file())
        var file: String

        @OptionGroup var keys: AuditKeyOption
        @OptionGroup var witnesses: AuditPolicyOption
        @OptionGroup var output: OutputOption

        func run() throws {
            let policy = try witnesses.policy(for: nil)
            let verifiers = try keys.verifiers(for: nil, and: policy?.logs ?? [])
            let bytes = try StandardError.attempt(64) {
                try InputFile.contents(ofArgument: file, limit: InputFile.Limit.proof)
            }
            let (document, text): (JSONMembers, String)
            do throws(AuditProofError) { (document, text) = try check(bytes, verifiers, policy) } catch {
                if output.format == .json {
                    try output.write(["valid": false, "reason": error.description] as JSONMembers, text: "")
                }
                throw error
            }
            try output.write(document, text: text)
        }

        private func check(
            _ bytes: [UInt8], _ verifiers: [NoteVerifier], _ policy: WitnessPolicy?
        ) throws(AuditProofError) -> (JSONMembers, text: String) {
            guard bytes.starts(with: Self.growth.utf8) else {
                // Any other document is parsed, and refused, as an inclusion proof.
                let proof = try InclusionProofDocument(parsing: bytes)
                let checkpoint = try proof.check(with: verifiers, policy: policy)
                // The entry may not be JSON, so it is text.
                let entry = String(decoding: proof.entry, as: UTF8.self)
                return (
                    [
                        "valid": true, "kind": "inclusion", "origin": checkpoint.origin, "size": checkpoint.size,
                        "index": proof.index, "entry": entry,
                    ],
                    """
                    valid: entry \(proof.index) is in the log \(PlainText.of(checkpoint.origin)), as the checkpoint over its \
                    first \(checkpoint.size) entries says.
                    \(PlainText.of(entry))
                    """
                )
            }
            let (old, new) = try ConsistencyProofDocument(parsing: bytes).check(
                with: verifiers, policy: policy)
            return (
                [
                    "valid": true, "kind": "consistency", "origin": new.origin, "oldSize": old.size,
                    "newSize": new.size,
                ],
                "valid: the log \(PlainText.of(new.origin)) with \(new.size) entries begins with the \(old.size) that the "
                    + "older checkpoint covers, unchanged."
            )
        }

        /// The beginning of a `ConsistencyProofDocument`.
        private static let growth = "privyseal/consistency-proof@"
    }
}
