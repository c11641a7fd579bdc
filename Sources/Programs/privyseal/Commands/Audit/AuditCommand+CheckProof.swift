import ArgumentParser
import AuditKit
import StrictJSON
import TransparencyLog

extension AuditCommand {
    struct CheckProof: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check-proof",
            abstract: "Check a proof from privyseal audit prove, with only the log's public key.",
            discussion: """
                  privyseal audit check-proof proof --key audit.db.key.pub

                The first line of a proof gives its kind. For a valid proof of an entry, the command prints the entry \
                with the checkpoint that covers it.
                """)

        @Argument(help: ArgumentHelp("The proof; - is standard input.", valueName: "file"), completion: .file())
        var file: String

        @OptionGroup var keys: AuditKeyOption
        @OptionGroup var output: OutputOption

        func run() throws {
            let verifiers = try keys.verifiers(for: nil)
            let bytes = try AuditAttempt.parse { () throws(AuditSetupError) in
                try EvidenceFile.contents(ofArgument: file, limit: EvidenceFile.Limit.proof)
            }
            let answer: String
            do throws(AuditProofError) { answer = try check(bytes, verifiers) } catch {
                if output.format == .json { try AuditOutput.print(json(error)) }
                throw error
            }
            try AuditOutput.print(answer)
        }

        private func check(_ bytes: [UInt8], _ verifiers: [NoteVerifier]) throws(AuditProofError) -> String {
            // Any other document is parsed, and refused, as an inclusion proof.
            guard bytes.starts(with: Self.growth.utf8) else {
                let proof = try InclusionProofDocument(parsing: bytes)
                let checkpoint = try proof.check(with: verifiers)
                return output.format == .json ? json(proof, checkpoint) : text(proof, checkpoint)
            }
            let (old, new) = try ConsistencyProofDocument(parsing: bytes).check(with: verifiers)
            return output.format == .json ? json(old, new) : text(old, new)
        }

        /// The beginning of a `ConsistencyProofDocument`.
        private static let growth = "privyseal/consistency-proof@"

        // MARK: Answers

        private func text(_ proof: InclusionProofDocument, _ checkpoint: Checkpoint) -> String {
            """
            valid: entry \(proof.index) is in the log \(PlainText.of(checkpoint.origin)), as the checkpoint over its first \
            \(checkpoint.size) entries says.
            \(PlainText.of(String(decoding: proof.entry, as: UTF8.self)))
            """
        }

        private func text(_ old: Checkpoint, _ new: Checkpoint) -> String {
            "valid: the log \(PlainText.of(new.origin)) with \(new.size) entries begins with the \(old.size) that the older "
                + "checkpoint covers, unchanged."
        }

        private func json(_ proof: InclusionProofDocument, _ checkpoint: Checkpoint) -> String {
            JSONText.string(
                [
                    "valid": true, "kind": "inclusion", "origin": checkpoint.origin, "size": checkpoint.size,
                    "index": proof.index,
                    // As text: the entry may not be JSON.
                    "entry": String(decoding: proof.entry, as: UTF8.self),
                ] as JSONMembers)
        }

        private func json(_ old: Checkpoint, _ new: Checkpoint) -> String {
            JSONText.string(
                [
                    "valid": true, "kind": "consistency", "origin": new.origin, "oldSize": old.size,
                    "newSize": new.size,
                ] as JSONMembers)
        }

        private func json(_ error: AuditProofError) -> String {
            JSONText.string(["valid": false, "reason": error.description] as JSONMembers)
        }
    }
}
